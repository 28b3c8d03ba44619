"""What the benchmark says about its measurements. Nothing is measured here."""
import contextlib
import io
import os
import re
import sys
import unittest
import xml.etree.ElementTree

import harness

ROOT = harness.ROOT
BENCH = os.path.join(ROOT, "bench")
sys.path.append(BENCH)  # behind our own folder, which has files of the same names
import against  # noqa: E402
import peers  # noqa: E402
import report  # noqa: E402


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


class FakeBench:
    quick, rounds, seconds, warmup, latency_seconds, sustained_seconds = True, 2, 1, 0, 1, 1
    binary = "this"
    tools = ROOT

    def __init__(self):
        self.rows, self.raw = [], {}

    def row(self, name, value, bar, reached, detail=""):
        self.rows.append((name, value, bar, reached, detail))

    @staticmethod
    def data():
        return os.path.join(ROOT, "build", "no-such-folder")


class Against(unittest.TestCase):
    def compare(self, rates, bad=0):
        bench = FakeBench()
        compared = against.Against(bench, "other")
        order = []

        def measure():
            order.append(bench.binary)
            return {"rate": next(rates[bench.binary]), "cpu_us": 2.0, "p99_us": 1000, "bad": bad}
        compared.compare("a row", measure, 0.95)
        self.assertEqual(bench.binary, "this")
        return bench, order

    def test_builds_take_turns_and_the_median_ratio_counts(self):
        bench, order = self.compare({"this": iter([10, 20, 30, 40, 900]), "other": iter([10, 10, 10, 10, 10])})
        self.assertEqual(order, ["this", "other", "other", "this"] * 2 + ["this", "other"])
        self.assertEqual(bench.rows[0][1], "3.00 of the other")
        self.assertTrue(bench.rows[0][3])

    def test_a_slower_build_and_bad_answers_do_not_reach_the_bar(self):
        self.assertFalse(self.compare({"this": iter([9] * 5), "other": iter([10] * 5)})[0].rows[0][3])
        self.assertFalse(self.compare({"this": iter([10] * 5), "other": iter([10] * 5)}, bad=1)[0].rows[0][3])


class Peers(unittest.TestCase):
    def run_with(self, *kinds):
        """Ours does not run: it has the same figures each time."""
        bench = FakeBench()
        saved = peers.Hikyaku.measure, peers.RabbitMq, peers.BullMq, peers.Restate
        peers.Hikyaku.measure = lambda *_: {row: 10.0 for row in peers.ROWS} | {"sync_ms": 0.1}
        peers.RabbitMq, peers.BullMq, peers.Restate = kinds
        said = io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                peers.PeersBench(bench).run()
        finally:
            peers.Hikyaku.measure, peers.RabbitMq, peers.BullMq, peers.Restate = saved
        return bench, said.getvalue()

    @staticmethod
    def kind(of_name, missing=None, measure=None):
        class Kind:
            name, about = of_name, "a peer"

            def __init__(self, _):
                if missing:
                    raise peers.PeerFailed(missing)

            def measure(self, _):
                return measure()
        return Kind

    def test_a_peer_that_is_missing_or_fails_is_left_out_with_the_reason(self):
        def fail():
            raise peers.PeerFailed("it fell over")
        bench, said = self.run_with(self.kind("Absent", missing="not installed"), self.kind("Broken", measure=fail),
                                    self.kind("Fine", measure=lambda: {peers.ONE: 5.0, peers.P50: 20.0}))
        self.assertIn("Absent is left out: not installed", said)
        self.assertIn("Broken is left out: it fell over", said)
        self.assertEqual(bench.raw["peers"]["left_out"], {"Absent": "not installed", "Broken": "it fell over"})
        self.assertEqual(list(bench.raw["peers"]["systems"]), ["Hikyaku", "Fine"])
        # More messages are better, fewer milliseconds are.
        self.assertEqual([(name, value) for name, value, *_ in bench.rows],
                         [(f"{peers.ONE}, beside Fine", "2.0 x"), (f"{peers.P50}, beside Fine", "2.0 x")])

    def test_a_peer_that_fails_in_a_later_round_is_left_out_whole(self):
        answers = iter([{peers.ONE: 5.0}])
        bench, said = self.run_with(self.kind("Late", measure=lambda: next(answers, None) or {}["gone"]),
                                    self.kind("A", missing="x"), self.kind("B", missing="x"))
        self.assertIn("Late is left out", said)
        self.assertEqual(bench.rows, [])
        self.assertEqual(list(bench.raw["peers"]["medians"]), ["Hikyaku"])

    def test_what_did_not_arrive_is_no_figure(self):
        with self.assertRaises(peers.PeerFailed):
            peers.lost(10, 9)
        peers.lost(10, 11)  # at least once


class Report(unittest.TestCase):
    """What ./dev bench --report makes of a run."""

    def setUp(self):
        self.report = report
        accept, receive, p50 = report.ROWS[0], "receive and delete, 64 clients", report.LATENCIES[0]
        rounds = [{"Hikyaku": {accept: 3000.0 * n, receive: 1.0, p50: 0.5}, "A & B": {accept: 1000.0 * n, p50: 2.0}}
                  for n in (1, 2)]
        self.result = {"at": "20260102T030405Z", "machine": {"cpu": "CPU", "cores": 2, "kernel": "6.1.0-x", "commit": "c" * 40},
                       "raw": {"peers": {"rounds": rounds, "medians": rounds[0], "sync_ms": 0.25, "left_out": {"C": "no disk"},
                                         "systems": {"Hikyaku": "this one", "A & B": "another"}}}}

    def test_a_table_has_figures_and_how_much_better_ours_are(self):
        table = self.report.table(self.result)
        self.assertIn("| 256 bytes each | Hikyaku | A & B |", table)
        self.assertIn(f"| {self.report.ROWS[0]} | 3,000/s | 1,000/s (3.0 ×) |", table)
        self.assertIn(f"| {self.report.LATENCIES[0]} | 0.50 ms | 2.00 ms (4.0 ×) |", table)
        self.assertIn("| receive and delete, 64 clients | 1/s | – |", table)
        for said in ("CPU, 2 cores, Linux 6.1.0", "`cccccccccccc`", "2026-01-02", "0.25 ms", "**C** was left out: no disk"):
            self.assertIn(said, table)

    def test_a_run_on_a_busy_machine_says_so(self):
        self.assertNotIn("busy", self.report.table(self.result))
        self.result["machine"]["busy"] = True
        self.assertIn("The machine was busy with other work during this run", self.report.table(self.result))

    def test_a_chart_has_a_bar_for_each_figure_and_is_well_formed(self):
        chart = xml.etree.ElementTree.fromstring(self.report.chart(self.result, self.report.ROWS, "a <label>"))
        bars = [e for e in chart.iter() if e.tag.endswith("rect")]
        self.assertEqual([b.get("class") for b in bars], ["ours", "peer", "ours", "ours", "peer"])
        self.assertAlmostEqual(float(bars[0].get("width")), 3 * float(bars[1].get("width")), delta=0.2)

    def test_only_what_stands_between_the_marks_is_written(self):
        self.assertEqual(self.report.put_between("a <b> old <e> z", "<b>", "<e>", "new"), "a <b>\nnew\n<e> z")
        with self.assertRaises(SystemExit):
            self.report.put_between("a z", "<b>", "<e>", "new")

    def test_the_page_has_its_table_and_charts(self):
        page = read("docs/explanation/performance.md")
        figures = page.partition(self.report.BEGIN)[2].partition(self.report.END)[0]
        for row in self.report.ROWS:
            self.assertIn(f"| {row} |", figures)
        for name in re.findall(r"!\[[^]]*\]\((performance/[^)]+)\)", page):
            xml.etree.ElementTree.fromstring(read("docs/explanation/" + name))


if __name__ == "__main__":
    unittest.main()
