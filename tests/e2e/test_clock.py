"""A wall clock that is set while the server runs, clocks that are wrong at its start, and a server that is stopped and
goes on. The wall clock is that of wall_clock.cpp, which is loaded into the server; the clocks that only count are real."""
import calendar
import http.client
import itertools
import json
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
import time
import unittest

from harness import (DEV_CURRENT_KEY, PATIENCE, Answer, Receiver, Server, run_binary, verify_signature, wait_for)

HERE = os.path.dirname(os.path.abspath(__file__))
HOUR, DAY, YEARS = 3600, 86400, 10 * 365 * 86400
LEAN = 1.1  # While partition time follows a wall clock that was set forward, it is faster by a tenth at most.

folder = None


def setUpModule():
    global folder
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        raise unittest.SkipTest("the wall clock that tests can set needs a compiler")
    folder = tempfile.mkdtemp(prefix="hikyaku-clock-")
    unittest.addModuleCleanup(shutil.rmtree, folder, True)
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", os.path.join(folder, "wall_clock.so"),
                    os.path.join(HERE, "wall_clock.cpp")], check=True)


class ClockServer(Server):
    """`ahead`: by how many seconds its wall clock is ahead of the real one."""
    numbers = itertools.count()

    def __init__(self, ahead=0, **options):
        super().__init__(**options)
        self.file = os.path.join(folder, f"ahead.{next(self.numbers)}")
        self.env |= {"LD_PRELOAD": os.path.join(folder, "wall_clock.so"), "WALL_CLOCK_FILE": self.file,
                     "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"}
        self.set_clock(ahead)

    def set_clock(self, ahead):
        """Whoever looks sees the clock before or after, nothing between."""
        self.ahead = ahead
        with open(self.file, "r+b" if os.path.exists(self.file) else "wb") as f:
            f.write(struct.pack("=q", round(ahead * 1000)))

    def now(self):
        return time.time() + self.ahead

    def start_at(self, when):
        """Starts it when the wall clock says `when` (seconds since 1970)."""
        self.set_clock(when - time.time())
        return self.start()

def processor_seconds(server):
    with open(f"/proc/{server.process.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class ClockCase(unittest.TestCase):
    maxDiff = None

    def assert_waited(self, since, until, seconds):
        """Not less than so long, but for the tenth. The server counts in milliseconds."""
        self.assertGreaterEqual(until - since, seconds / LEAN - 0.02)

    def assert_at_rest(self, server):
        """With nothing to do it does next to nothing, whatever its timers were set to."""
        before = processor_seconds(server)
        time.sleep(1)
        self.assertLess(processor_seconds(server) - before, 0.5)

    def assert_sane(self, server):
        """What others see of its clock is the wall clock's time; what was counted stays counted."""
        answer = server.request("GET", "/readyz", token=None)
        shown = calendar.timegm(time.strptime(answer.headers["Date"], "%a, %d %b %Y %H:%M:%S GMT"))
        self.assertLess(abs(shown - server.now()), 120)
        metrics = server.metrics()
        self.assertEqual(metrics["hikyaku_conservation_gap"], 0)
        self.assertGreaterEqual(metrics["hikyaku_oldest_due_seconds"], 0)


class Jumps(ClockCase):
    @classmethod
    def setUpClass(cls):
        cls.receiver = Receiver()
        cls.addClassCleanup(cls.receiver.close)
        cls.server = ClockServer()
        cls.addClassCleanup(cls.server.close)
        cls.server.start()

    def setUp(self):
        self.server.set_clock(0)

    def hook(self, name, *answers):
        path = f"/{self.id().rsplit('.', 1)[1]}/{name}"
        if answers:
            self.receiver.script(path, *answers)
        return path, self.receiver.url(path)

    def test_no_delay_is_cut_short_or_forgotten(self):
        def jump(ahead):
            self.server.set_clock(ahead)

        def swing(_):
            for i in range(20):
                self.server.set_clock(HOUR if i % 2 else -HOUR)
                time.sleep(0.02)

        for number, (how, ahead) in enumerate([(jump, 1), (jump, -1), (jump, HOUR), (jump, -HOUR), (jump, DAY), (jump, -DAY),
                                               (jump, YEARS), (jump, -YEARS), (swing, 0), (jump, 0)]):
            with self.subTest(ahead=ahead, how=how.__name__):
                sent = []
                for turn in ("before", "after"):
                    path, url = self.hook(f"{number}/{turn}")
                    began = time.time()
                    sent.append((path, began, self.server.publish_id(url, Upstash_Delay="1s")))
                    if turn == "before":
                        how(ahead)
                for path, began, message_id in sent:
                    self.assert_waited(began, self.receiver.wait(path)[0].at, 1)
                    self.server.wait_states(message_id, "CREATED", "ACTIVE", "DELIVERED")
                    self.assertEqual(len(self.receiver.at(path)), 1)
                self.assert_sane(self.server)

    def test_windows_and_leases_outlive_a_jump(self):
        path, url = self.hook("once")
        first = self.server.publish_id(url, Upstash_Deduplication_Id="clock")
        rate = {"Upstash_Flow_Control_Key": "clock", "Upstash_Flow_Control_Value": "rate=1, period=1h"}
        limited, limited_url = self.hook("limited")
        self.server.publish_id(limited_url, **rate)
        self.receiver.wait(limited)
        held_back = self.server.publish_id(limited_url, **rate)
        queue = self.server.make_queue("leased", VisibilityTimeout="3600")
        self.server.sqs("SendMessage", QueueUrl=queue, MessageBody="mine")
        [mine] = self.server.receive(queue, WaitTimeSeconds=10)
        fifo = self.server.make_queue("windowed.fifo", FifoQueue="true")

        def send():
            return self.server.sqs("SendMessage", QueueUrl=fifo, MessageBody="x", MessageGroupId="g",
                                   MessageDeduplicationId="d").json()["MessageId"]

        sent = send()
        for ahead in (DAY, -DAY, YEARS, -YEARS, 0):
            with self.subTest(ahead=ahead):
                self.server.set_clock(ahead)
                again = self.server.publish(url, Upstash_Deduplication_Id="clock")
                self.assertEqual((again.status, again.json()["messageId"]), (202, first))
                self.assertEqual(send(), sent)
                self.assertEqual(self.server.receive(queue), [])
        self.assertEqual(len(self.receiver.at(path)), 1)
        self.assertEqual(len(self.receiver.at(limited)), 1)
        self.assertEqual(self.server.states(held_back), ["CREATED"])
        # The receipt is as good as ever.
        back = self.server.sqs("ChangeMessageVisibility", QueueUrl=queue, ReceiptHandle=mine["ReceiptHandle"],
                               VisibilityTimeout=0)
        self.assertEqual(back.status, 200, back.body)
        [mine] = self.server.receive(queue, WaitTimeSeconds=10)
        gone = self.server.sqs("DeleteMessage", QueueUrl=queue, ReceiptHandle=mine["ReceiptHandle"])
        self.assertEqual(gone.status, 200, gone.body)
        self.assertEqual(self.server.receive(queue), [])

    def test_a_long_poll_lasts_as_long_as_asked_for(self):
        queue = self.server.make_queue("polled")
        for ahead in (YEARS, -YEARS):
            with self.subTest(ahead=ahead):
                took = []

                def poll():
                    began = time.monotonic()
                    got = self.server.receive(queue, WaitTimeSeconds=2)
                    took.append((got, time.monotonic() - began))

                self.server.set_clock(0)
                thread = threading.Thread(target=poll)
                thread.start()
                wait_for(lambda: thread.ident, "the thread")
                time.sleep(0.2)  # The poll may have begun or not: both are meant.
                self.server.set_clock(ahead)
                thread.join(PATIENCE * 3)
                self.assertEqual(len(took), 1, "the poll never ended")
                self.assertEqual(took[0][0], [])
                self.assertGreaterEqual(took[0][1], 2 / LEAN - 0.02)
        self.server.sqs("SendMessage", QueueUrl=queue, MessageBody="late")
        self.assertEqual([one["Body"] for one in self.server.receive(queue, WaitTimeSeconds=20)], ["late"])

    def test_retries_go_on_and_an_attempt_is_neither_cut_off_nor_doubled(self):
        failing, url = self.hook("failing", 500, 500, 200)
        failed = self.server.publish_id(url, Upstash_Retries=3, Upstash_Retry_Delay="1000")
        slow, url = self.hook("slow", Answer(delay=2))
        taken = self.server.publish_id(url, Upstash_Retries=3, Upstash_Timeout="60s")
        self.receiver.wait(slow)
        for count, ahead in ((1, -DAY), (2, YEARS), (3, -YEARS)):
            self.receiver.wait(failing, count)
            self.server.set_clock(ahead)
        got = self.receiver.wait(failing, 3)
        for before, after in itertools.pairwise(got):
            self.assert_waited(before.at, after.at, 1)
        self.server.wait_states(taken, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(len(self.receiver.at(slow)), 1)
        self.assertEqual(len(self.server.wait_job(failed, "SUCCEEDED")["attempts"]), 3)
        self.assert_at_rest(self.server)

    def test_signatures_are_of_the_wall_clock(self):
        for ahead in (DAY, -DAY, YEARS, -YEARS):
            with self.subTest(ahead=ahead):
                self.server.set_clock(ahead)
                path, url = self.hook(f"signed/{ahead}")
                self.server.publish_id(url, b"body")
                [got] = self.receiver.wait(path)
                verify_signature(got.headers["Upstash-Signature"], DEV_CURRENT_KEY, url, b"body", self.server.now())
                # A client whose clock is right is let in at once, one whose clock is a day off never.
                self.assertEqual(self.server.sqs("ListQueues").status, 200)
                self.server.ahead = 0
                refused = self.server.sqs("ListQueues")
                self.assertEqual(refused.status, 403, refused.body)
                self.assertIn(b"15 minutes", refused.body)
        self.server.set_clock(DAY)
        self.assertLess(abs(self.server.metrics()["hikyaku_clock_offset_seconds"] - DAY), 600)
        for line in self.server.output().splitlines():
            if line.startswith("{"):
                time.strptime(json.loads(line)["time"][:19], "%Y-%m-%dT%H:%M:%S")

    def test_nothing_spins_far_from_the_present(self):
        for ahead in (YEARS, -YEARS):
            with self.subTest(ahead=ahead):
                self.server.publish_id(self.hook("later")[1], Upstash_Delay="1h")
                self.server.set_clock(ahead)
                self.assert_at_rest(self.server)


class Starts(ClockCase):
    """The wall clock is believed at a start, as long as it is not before what was stored."""

    def test_it_starts_in_any_year_and_keeps_what_it_has(self):
        server = ClockServer()
        self.addCleanup(server.close)
        with Receiver() as receiver:
            lives = [("1970", 60, []), ("the present", int(time.time()), ["1970"]),
                     ("2038", 2**31 - 2, ["the present"]), ("2106", 2**32 - 2, ["2038"]),
                     ("the present again", int(time.time()), [])]
            unfinished = {}
            runs = 0
            for name, when, due in lives:
                server.start_at(when)
                if name == "1970":
                    made = server.request("POST", "/v2/schedules/" + receiver.url("/yearly"), b"",
                                          {"Upstash-Cron": "0 12 2 6 *", "Upstash-Schedule-Id": "yearly"})
                    self.assertEqual(made.status, 200, made.body)
                # All that came due meanwhile is delivered; of the runs of a schedule that were missed, one.
                for life in due:
                    receiver.wait(f"/{life}/in-an-hour".replace(" ", "-"))
                    server.wait_states(unfinished[life], "CREATED", "ACTIVE", "DELIVERED")
                runs += bool(due)
                receiver.wait("/yearly", runs) if runs else None
                # It works as on any other day.
                path = f"/{name}".replace(" ", "-")
                began = time.time()
                server.publish_id(receiver.url(path), b"x")
                server.publish_id(receiver.url(path + "/later"), Upstash_Delay="1s")
                receiver.script(path + "/retried", 500, 200)
                server.publish_id(receiver.url(path + "/retried"), Upstash_Retry_Delay="1", Upstash_Retries=1)
                unfinished[name] = server.publish_id(receiver.url(path + "/in-an-hour"), Upstash_Delay="1h")
                [got] = receiver.wait(path)
                verify_signature(got.headers["Upstash-Signature"], DEV_CURRENT_KEY, receiver.url(path), b"x",
                                 server.now())
                receiver.wait(path + "/retried", 2)
                queue = server.make_queue("years")
                sent = server.sqs("SendMessage", QueueUrl=queue, MessageBody=name)
                self.assertEqual(sent.status, 200, sent.body)
                [one] = server.receive(queue, WaitTimeSeconds=10)
                self.assertEqual(one["Body"], name)
                server.sqs("DeleteMessage", QueueUrl=queue, ReceiptHandle=one["ReceiptHandle"])
                self.assert_waited(began, receiver.wait(path + "/later")[0].at, 1)
                self.assert_sane(server)
                server.kill()
            # From 2106 back into the present nothing is made again, and what waits goes on waiting.
            self.assertEqual(len(receiver.at("/yearly")), 3)
            server.start()
            for name in ("2106", "the present again"):
                self.assertEqual(server.states(unfinished[name]), ["CREATED"], name)
            self.assertEqual(server.terminate(), 0)
            verified = run_binary("verify", "--data", server.data)
            self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def test_schedules_of_a_zone_follow_its_clock_changes(self):
        def utc(text):
            return calendar.timegm(time.strptime(text, "%Y-%m-%d %H:%M"))

        rows = [
            # Put forward from 02:00 to 03:00: what is jumped over does not run that day.
            ("2027-03-28 01:00", {"0 3 * * *": "2027-03-28 01:00", "30 2 * * *": "2027-03-29 00:30",
                                  "0 * * * *": "2027-03-28 01:00"}),
            # Put back from 03:00 to 02:00: what comes twice runs the first time.
            ("2027-10-31 01:00", {"0 2 * * *": "2027-11-01 01:00", "0 3 * * *": "2027-10-31 02:00",
                                  "0 * * * *": "2027-10-31 01:00"}),
        ]
        for change, next_runs in rows:
            with self.subTest(change), Receiver() as receiver:
                server = ClockServer()
                self.addCleanup(server.close)
                server.start_at(utc(change) - 20)
                for number, (cron, _) in enumerate(next_runs.items()):
                    made = server.request("POST", "/v2/schedules/" + receiver.url(f"/{number}"), b"",
                                          {"Upstash-Cron": "CRON_TZ=Europe/Berlin " + cron,
                                           "Upstash-Schedule-Id": f"s{number}"})
                    self.assertEqual(made.status, 200, made.body)
                shown = [server.get(f"/v2/schedules/s{i}").json()["nextScheduleTime"] for i in range(len(next_runs))]
                if server.now() < utc(change):  # on a machine that is slow beyond measure some have run by now
                    self.assertEqual([time.strftime("%Y-%m-%d %H:%M", time.gmtime(at / 1000)) for at in shown],
                                     list(next_runs.values()))


class Pause(ClockCase):
    """SIGSTOP, as a debugger, a container's freezer or a hypervisor does it: past timeouts, leases and waits."""

    def test_a_server_that_was_stopped_goes_on_and_has_lost_nothing(self):
        with Receiver() as receiver, Server() as server:
            receiver.script("/answers", Answer(delay=1))
            receiver.script("/hangs", Answer(action="hang"), Answer())
            queue = server.make_queue("paused")
            for body in ("short", "long"):
                server.sqs("SendMessage", QueueUrl=queue, MessageBody=body)
            short, long = None, None
            for seconds in (2, 600):
                [got] = server.receive(queue, WaitTimeSeconds=10, MaxNumberOfMessages=1, VisibilityTimeout=seconds)
                short, long = (got, long) if seconds == 2 else (short, got)
            options = {"Upstash_Timeout": "2s", "Upstash_Retries": 2, "Upstash_Retry_Delay": "100"}
            answers = server.publish_id(receiver.url("/answers"), **options)
            hangs = server.publish_id(receiver.url("/hangs"), **options)
            later = server.publish_id(receiver.url("/later"), Upstash_Delay="1s")
            polled = server.make_queue("waited-for")
            kept = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            self.addCleanup(kept.close)
            kept.request("GET", "/readyz")
            kept.getresponse().read()
            polls = []
            poll = threading.Thread(target=lambda: polls.append(server.receive(polled, WaitTimeSeconds=2)))
            poll.start()
            for path in ("/answers", "/hangs"):
                receiver.wait(path)

            server.process.send_signal(signal.SIGSTOP)
            time.sleep(8)  # beyond the timeouts and their leases
            server.process.send_signal(signal.SIGCONT)

            for message_id in (answers, hangs, later):
                server.wait_job(message_id, "SUCCEEDED")
            # An outcome that was not looked at within the lease may be asked for again, with a higher fence.
            fences = [tuple(map(int, got.headers["Hikyaku-Fence"].split("."))) for got in receiver.at("/answers")]
            self.assertLessEqual(len(fences), 2)
            self.assertEqual(fences, sorted(set(fences)))
            self.assertEqual(len(receiver.at("/hangs")), 2)
            self.assertEqual(len(receiver.at("/later")), 1)
            # The lease that ended meanwhile is over, the other one is not.
            [again] = server.receive(queue, WaitTimeSeconds=20)
            self.assertEqual((again["Body"], again["Attributes"]["ApproximateReceiveCount"]), (short["Body"], "2"))
            for got in (again, long):
                gone = server.sqs("DeleteMessage", QueueUrl=queue, ReceiptHandle=got["ReceiptHandle"])
                self.assertEqual(gone.status, 200, gone.body)
            poll.join(PATIENCE * 3)
            self.assertEqual(polls, [[]])
            kept.request("GET", "/readyz")
            self.assertEqual(kept.getresponse().status, 200)
            metrics = server.metrics()
            self.assertEqual(metrics["hikyaku_conservation_gap"], 0)
            self.assertEqual(metrics['hikyaku_queue_messages{tenant="default",queue="paused",state="in_flight"}'], 0)
            self.assert_at_rest(server)


if __name__ == "__main__":
    unittest.main()
