#!/usr/bin/env python3
"""Writes the figures of docs/explanation/performance.md: its table and its charts, from a file of bench/results.

    python3 bench/report.py [FILE]      without a file: the newest one in which peers were measured
"""
import glob
import json
import os
import statistics
import sys
from xml.sax.saxutils import escape, quoteattr

from peers import LATENCIES, ROWS

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "explanation", "performance.md")
CHARTS = os.path.join(ROOT, "docs", "explanation", "performance")
BEGIN, END = "<!-- figures -->", "<!-- end of figures -->"
OURS = "Hikyaku"

# Colours that stand out on white and on black alike; the text follows the reader's scheme.
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 13px }
  .ours { fill: #2f81f7 }
  .peer { fill: #8b949e }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
"""
WIDTH, LEFT, RIGHT, BAR, GAP, TITLE = 720, 90, 110, 16, 6, 30


def value(row, number):
    return f"{number:.2f} ms" if row in LATENCIES else f"{number:,.0f}/s"


def chart(result, rows, label):
    """Bars for each row, one for each system that has it, drawn against the longest of the row."""
    medians = result["raw"]["peers"]["medians"]
    parts, y = [], 4
    for row in rows:
        bars = [(name, figures[row]) for name, figures in medians.items() if row in figures]
        if not bars:
            continue
        longest = max(number for _, number in bars)
        less = " (less is better)" if row in LATENCIES else ""
        parts.append(f'<text class="title" x="0" y="{y + 16}">{escape(row + less)}</text>')
        y += TITLE - 4
        for name, number in bars:
            length = max(1.0, (WIDTH - LEFT - RIGHT) * number / longest)
            kind = "ours" if name == OURS else "peer"
            parts.append(f'<text x="{LEFT - 8}" y="{y + 12}" text-anchor="end">{escape(name)}</text>'
                         f'<rect class="{kind}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{BAR}" rx="2"/>'
                         f'<text x="{LEFT + length + 6:.1f}" y="{y + 12}">{escape(value(row, number))}</text>')
            y += BAR + GAP
        y += 10
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}" role="img" '
            f'aria-label={quoteattr(label)}>\n<style>{STYLE}</style>\n{body}\n</svg>\n')


def table(result):
    """A row of the page for each row of the run; of a peer its figure, and how much better ours is."""
    peers, machine = result["raw"]["peers"], result["machine"]
    names, count = list(peers["medians"]), len(peers["rounds"])
    lines = [f"Machine: {machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel'].split('-')[0]}; commit "
             f"`{machine['commit'][:12]}`, {result['at'][:4]}-{result['at'][4:6]}-{result['at'][6:8]}; "
             f"{count} round{'s, of which the medians count' if count > 1 else ''}; one `fdatasync` took "
             f"{peers['sync_ms']:.2f} ms. In brackets: how many times better Hikyaku is.", "",
             *(["**The machine was busy with other work during this run: do not quote these figures.**", ""]
               if machine.get("busy") else []),
             "| 256 bytes each | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for row in ROWS:
        cells = []
        for name in names:
            if row not in peers["medians"][name]:
                cells.append("–")
                continue
            ratios = [one[name][row] / one[OURS][row] if row in LATENCIES else one[OURS][row] / one[name][row]
                      for one in peers["rounds"]]
            ratio = "" if name == OURS else f" ({statistics.median(ratios):.1f} ×)"
            cells.append(value(row, peers["medians"][name][row]) + ratio)
        lines.append(f"| {row} | " + " | ".join(cells) + " |")
    lines += ["", *(f"- **{name}**: {about}." for name, about in peers["systems"].items()),
              *(f"- **{name}** was left out: {why}." for name, why in peers.get("left_out", {}).items())]
    return "\n".join(lines)


def put_between(text, begin, end, what):
    before, found, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found or not found_end:
        raise SystemExit(f"{os.path.relpath(PAGE)} has no {begin} … {end}")
    return f"{before}{begin}\n{what}\n{end}{after}"


def newest():
    for path in sorted(glob.glob(os.path.join(ROOT, "bench", "results", "*.json")), reverse=True):
        with open(path) as f:
            if "medians" in json.load(f)["raw"].get("peers", {}):
                return path
    raise SystemExit("bench/results has no run with peers: ./dev bench --only peers")


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else newest()
    with open(path) as f:
        result = json.load(f)
    os.makedirs(CHARTS, exist_ok=True)
    for name, rows, label in (("rates.svg", [row for row in ROWS if row not in LATENCIES], "Messages per second"),
                              ("latency.svg", list(LATENCIES), "Milliseconds from sending to receiving")):
        with open(os.path.join(CHARTS, name), "w", encoding="utf-8") as f:
            f.write(chart(result, rows, label))
    with open(PAGE, encoding="utf-8") as f:
        text = f.read()
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(put_between(text, BEGIN, END, table(result)))
    print(f"{os.path.relpath(PAGE)} and its charts are from {os.path.relpath(path)}"
          + (", a run on a busy machine" if result["machine"].get("busy") else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
