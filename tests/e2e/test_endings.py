"""Workers that end their jobs by a call of their own: POST /api/v1/jobs/{id}/complete and /fail, by fence and by receipt."""
import json
import threading
import unittest

from harness import Answer, Case, wait_for


class Endings(Case):
    def call(self, job, verb, **members):
        answer = self.server.request("POST", f"/api/v1/jobs/{job}/{verb}", json.dumps(members))
        return answer.status, answer.json()

    def refused(self, told, status, code, job_status=None):
        self.assertEqual((told[0], told[1]["code"]), (status, code), told[1])
        self.assertEqual(told[1].get("job_status"), job_status)

    def held(self, answer=None, **headers):
        """A message whose delivery waits for its answer: its job, its fence, and the event that lets it be answered."""
        let_go = threading.Event()
        self.addCleanup(let_go.set)
        path, url = self.hook(*([Answer(after=let_go)] if answer is None else [answer]))
        job = self.server.publish_id(url, **headers)
        return job, self.receiver.wait(path)[0].headers["Hikyaku-Fence"], let_go

    def test_a_push_is_completed_before_it_is_answered(self):
        job, fence, let_go = self.held()
        self.refused(self.call(job, "complete", fence="0.999.1"), 409, "lease_lost", "RUNNING")
        status, told = self.call(job, "complete", fence=fence, result={"b": 1, "a": [1.0, "é"]})
        self.assertEqual((status, told), (200, {"id": job, "status": "SUCCEEDED", "status_url": f"/api/v1/jobs/{job}"}))
        shown = self.server.job(job)
        self.assertEqual(shown["result"], {"content_type": "application/json", "body": {"a": [1, "é"], "b": 1}, "size": 20, "truncated": False})
        self.assertEqual(shown["attempts"][0]["status_code"], 200)
        self.assertEqual(self.call(job, "complete", fence=fence, result={"a": [1, "é"], "b": 1})[0], 200, "said again")
        self.refused(self.call(job, "complete", fence=fence, result=2), 409, "job_finished", "SUCCEEDED")
        self.refused(self.call(job, "fail", fence=fence, error={"message": "no"}), 409, "job_finished", "SUCCEEDED")
        let_go.set()
        self.server.wait_states(job, "CREATED", "ACTIVE", "DELIVERED")
        self.assertEqual(self.server.job(job)["result"], shown["result"], "the answer that came later changes nothing")

    def test_a_push_that_fails_is_tried_again_or_given_up(self):
        path, url = self.hook(Answer(action="hang"))
        job = self.server.publish_id(url, **{"Upstash-Retries": "3"})
        first = self.receiver.wait(path)[0].headers["Hikyaku-Fence"]
        status, told = self.call(job, "fail", fence=first, error={"message": "no room", "code": "busy"}, retry_after="0s")
        self.assertEqual((status, told["status"]), (200, "PENDING"))
        second = self.receiver.wait(path, 2)[1].headers["Hikyaku-Fence"]
        self.assertEqual(self.server.job(job)["attempts"][0]["error"], "busy: no room")
        self.refused(self.call(job, "complete", fence=first), 409, "lease_lost", "RUNNING")
        status, told = self.call(job, "fail", fence=second, error={"message": "never"}, retry=False)
        self.assertEqual((status, told["status"]), (200, "FAILED"))
        self.assertEqual(self.server.wait_dead_letter(job)["messageId"], job)

    def test_a_lease_does_not_outlive_its_server(self):
        job, fence, _ = self.held()
        self.server.kill()
        self.server.start()
        self.assertEqual(self.call(job, "complete", fence=fence)[1]["code"], "lease_lost")

    def test_a_pulled_message_is_ended_by_its_receipt(self):
        dead = self.server.make_queue("endings-dead")
        arn = self.server.sqs("GetQueueAttributes", QueueUrl=dead, AttributeNames=["QueueArn"]).json()["Attributes"]["QueueArn"]
        url = self.server.make_queue("endings", RedrivePolicy=json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 5}))
        for body in ("done", "again", "never"):
            self.server.sqs("SendMessage", QueueUrl=url, MessageBody=body)
        got = {}
        wait_for(lambda: got.update({one["Body"]: one for one in self.server.receive(url)}) or len(got) == 3, "three messages")
        lease = lambda body: (got[body]["MessageId"], got[body]["ReceiptHandle"])  # noqa: E731
        job, receipt = lease("done")
        self.assertEqual(self.call(job, "complete", receipt=lease("again")[1])[0], 400, "of another job")
        status, told = self.call(job, "complete", receipt=receipt, body="fine", content_type="text/x-note")
        self.assertEqual((status, told["status"]), (200, "SUCCEEDED"))
        self.assertEqual(self.server.job(told["id"])["result"]["body"], "fine")
        self.assertEqual(self.call(job, "complete", receipt=receipt, body="fine", content_type="text/x-note")[0], 200, "said again")
        job, receipt = lease("never")
        self.assertEqual(self.call(job, "fail", receipt=receipt, error={"message": "no"}, retry=False)[1]["status"], "FAILED")
        letter = wait_for(lambda: self.server.receive(dead), "the dead letter")[0]
        self.assertEqual((letter["Body"], letter["MessageId"]), ("never", job))
        self.assertEqual(self.call(job, "complete", receipt=letter["ReceiptHandle"])[1]["status"], "SUCCEEDED", "by the id it had first")
        job, receipt = lease("again")
        self.server.kill()
        self.server.start()
        self.assertEqual(self.call(job, "fail", receipt=receipt, error={"message": "no"}, retry_after="0s")[1]["status"], "PENDING")
        again = wait_for(lambda: self.server.receive(url), "it again")[0]
        self.refused(self.call(job, "complete", receipt=receipt), 409, "lease_lost", "RUNNING")
        self.assertEqual(self.call(job, "complete", receipt=again["ReceiptHandle"])[0], 200)

    def test_a_result_has_a_bound(self):
        job, fence, _ = self.held()
        self.assertEqual(self.call(job, "complete", fence=fence, result="x" * 262_150)[0], 413)
        self.assertEqual(self.call(job, "complete", fence=fence, body="x" * 262_145)[0], 413)
        self.assertEqual(self.call(job, "complete", fence=fence, result="x" * 262_000)[0], 200)
        self.assertEqual(len(self.server.job(job)["result"]["body"]), 262_000)


if __name__ == "__main__":
    unittest.main()
