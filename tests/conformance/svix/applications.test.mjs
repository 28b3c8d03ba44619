// Applications: one for each customer of our user (webhooks-api 3), lists and PUT (1.4, 1.7).
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assertRecent, both, DEV_TOKEN, ID, invalid, pages, refused, TIME, world } from "./harness.mjs";

describe("applications", () => {
  const t = world();

  both(t, "are made, found by id and by uid, and deleted", async (c) => {
    const uid = t.name("uid");
    const made = await c.application.create({ name: "Ada", uid, throttleRate: 7, metadata: { plan: "gold" } });
    assert.match(made.id, ID.app);
    assert.deepEqual([made.name, made.uid, made.throttleRate, made.metadata], ["Ada", uid, 7, { plan: "gold" }]);
    assertRecent(made.createdAt);
    assertRecent(made.updatedAt);
    assert.deepEqual(await c.application.get(made.id), made);
    assert.deepEqual(await c.application.get(uid), made);
    await c.application.delete(uid);
    await refused(c.application.get(made.id), 404, "not_found");
    await refused(c.application.delete(made.id), 404, "not_found");
  });

  both(t, "have defaults", async (c) => {
    const made = await c.application.create({ name: "plain" });
    assert.deepEqual([made.uid ?? null, made.throttleRate ?? null, made.metadata], [null, null, {}]);
  });

  it("answer with all members, times of Z, and the older name of the rate", async () => {
    const made = await t.own("POST", "/app", { name: "wire", throttleRate: 3 }, 201);
    assert.deepEqual(Object.keys(made).sort(), [
      "createdAt",
      "id",
      "metadata",
      "name",
      "rateLimit",
      "throttleRate",
      "uid",
      "updatedAt",
    ]);
    assert.match(made.createdAt, TIME);
    assert.match(made.updatedAt, TIME);
    assert.equal(made.rateLimit, 3);
  });

  it("take the older name of the rate, and the newer one wins", async () => {
    assert.equal((await t.own("POST", "/app", { name: "x", rateLimit: 5 })).throttleRate, 5);
    assert.equal((await t.own("POST", "/app", { name: "x", rateLimit: 5, throttleRate: 6 })).throttleRate, 6);
  });

  both(t, "have a uid that nobody else has", async (c) => {
    const uid = t.name("uid");
    const first = await c.application.create({ name: "first", uid });
    await refused(c.application.create({ name: "second", uid }), 409, "conflict");
    // A lost answer is asked for again: the one that exists, unchanged.
    assert.deepEqual(await c.application.getOrCreate({ name: "third", uid }), first);
    await c.application.delete(first.id);
    assert.notEqual((await c.application.create({ name: "fourth", uid })).id, first.id);
  });

  it("are got or made: 200 or 201", async () => {
    const uid = t.name("uid");
    assert.equal((await t.raw("POST", "/api/v1/app?get_if_exists=true", { body: { name: "a", uid } })).status, 201);
    assert.equal((await t.raw("POST", "/api/v1/app?get_if_exists=true", { body: { name: "b", uid } })).status, 200);
  });

  both(t, "are replaced by PUT, or made under its name", async (c) => {
    const uid = t.name("uid");
    const made = await c.application.upsert(uid, { name: "one", metadata: { k: "v" }, throttleRate: 5 });
    assert.equal(made.uid, uid);
    const replaced = await c.application.upsert(uid, { name: "two" });
    assert.equal(replaced.id, made.id);
    // Every field is replaced: absent is the default. The uid of the path stays, as the body has none.
    assert.deepEqual([replaced.name, replaced.uid, replaced.throttleRate ?? null, replaced.metadata], ["two", uid, null, {}]);
    assert.ok(replaced.updatedAt >= made.updatedAt);
    assert.deepEqual(replaced.createdAt, made.createdAt);
  });

  it("PUT answers 201 and 200, renames, and refuses what another one owns", async () => {
    const [uid, other, taken] = [t.name("uid"), t.name("uid"), t.name("uid")];
    await t.own("PUT", `/app/${uid}`, { name: "one" }, 201);
    await t.own("PUT", `/app/${uid}`, { name: "one" }, 200);
    assert.equal((await t.own("PUT", `/app/${uid}`, { name: "one", uid: other }, 200)).uid, other);
    await t.own("PUT", `/app/${taken}`, { name: "two" }, 201);
    await t.refusals([
      ["the former name", "GET", `/app/${uid}`, {}, [404, "not_found"]],
      ["another's", "PUT", `/app/${other}`, { body: { name: "one", uid: taken } }, [409, "conflict"]],
      // 1.7: a path that is no legal uid cannot become one.
      ["an id that nobody has", "PUT", `/app/app_${"0".repeat(27)}`, { body: { name: "x" } }, [404, "not_found"]],
    ]);
  });

  both(t, "are patched: absent keeps, null unsets", async (c) => {
    const uid = t.name("uid");
    const { id } = await c.application.create({ name: "one", uid, throttleRate: 5, metadata: { k: "v" } });
    const named = await c.application.patch(id, { name: "two" });
    assert.deepEqual([named.name, named.uid, named.throttleRate, named.metadata], ["two", uid, 5, { k: "v" }]);
    const unset = await c.application.patch(id, { uid: null, throttleRate: null });
    assert.deepEqual([unset.name, unset.uid ?? null, unset.throttleRate ?? null], ["two", null, null]);
    await refused(c.application.get(uid), 404);
    await invalid(c.application.patch(id, { name: null }), "body.name");
    await refused(c.application.patch("nobody", { name: "x" }), 404);
  });

  it("take names as paths that need encoding", async () => {
    const uid = "a.b-c_d";
    const { id } = await t.svix.application.create({ name: "x", uid });
    assert.equal((await t.own("GET", "/app/a%2Eb%2Dc%5Fd")).id, id);
    await t.own("GET", "/app/a%252Eb", undefined, 404); // decoded once
  });

  it("end what waits for them, and what belongs to them is no longer reachable", async () => {
    const { app, ep } = await t.customer({ disabled: true });
    const { id } = await t.send(app);
    const { token } = await t.svix.authentication.appPortalAccess(app);
    const theirs = t.connect(token);
    assert.equal((await theirs.endpoint.get(app, ep)).id, ep);
    assert.equal((await t.delivery(app, id, ep)).status, 1);
    await t.svix.application.delete(app);
    await refused(t.svix.message.get(app, id), 404);
    await refused(t.svix.endpoint.get(app, ep), 404);
    await refused(theirs.endpoint.get(app, ep), 401);
    const job = await t.own("GET", `/jobs/${id}.${ep}`);
    assert.equal(job.status, "CANCELED");
  });

  it("refuse bad fields, each by its name", async () => {
    await t.refusedBodies("POST", "/app", [
      [{}, "body.name"],
      [{ name: "" }, "body.name"],
      [{ name: null }, "body.name"],
      [{ name: 7 }, "body.name"],
      [{ name: "a\u0000b" }, "body.name"],
      [{ name: "a\nb" }, "body.name"],
      [{ name: "x".repeat(257) }, "body.name"],
      [{ name: "x", uid: "" }, "body.uid"],
      [{ name: "x", uid: "a b" }, "body.uid"],
      [{ name: "x", uid: "é" }, "body.uid"],
      [{ name: "x", uid: "app_mine" }, "body.uid"],
      [{ name: "x", uid: "x".repeat(257) }, "body.uid"],
      [{ name: "x", uid: 7 }, "body.uid"],
      [{ name: "x", throttleRate: 0 }, "body.throttleRate"],
      [{ name: "x", throttleRate: -1 }, "body.throttleRate"],
      [{ name: "x", throttleRate: 65536 }, "body.throttleRate"],
      [{ name: "x", throttleRate: 1.5 }, "body.throttleRate"],
      [{ name: "x", throttleRate: "5" }, "body.throttleRate"],
      [{ name: "x", metadata: [] }, "body.metadata"],
      [{ name: "x", metadata: { k: "v".repeat(4096) } }, "body.metadata"],
      [{ name: "", uid: "a b", throttleRate: 0 }, "body.name", "body.uid", "body.throttleRate"],
      ["{", "body"],
      ["[]", "body"],
      ["", "body"],
    ]);
    await t.refusals([
      ["metadata that is no text", "POST", "/app", { body: { name: "x", metadata: { k: 1 } } }, 422],
      ["a name of 256 and more bytes", "POST", "/app", { body: { name: "é".repeat(129) } }, ["body.name"]],
    ]);
    await t.own("POST", "/app", { name: "x".repeat(256) }, 201);
  });

  it("take members that they do not know", async () => {
    const made = await t.own("POST", "/app", { name: "x", later: [1, { a: 2 }] }, 201);
    assert.equal(made.later, undefined);
  });
});

describe("lists of applications", () => {
  const t = world();

  it("are empty in the beginning", async () => {
    assert.deepEqual(await t.own("GET", "/app"), { data: [], iterator: null, done: true });
  });

  it("go by pages in both directions and orders", async () => {
    const ids = [];
    for (let i = 0; i < 7; i += 1) ids.push(await t.app());
    for (const line of Object.values(t.lines)) {
      const list = (more) => (page) => line.application.list({ ...page, ...more });
      // 1.4: applications ascend unless asked otherwise.
      assert.deepEqual(await pages(list(), 3), ids);
      assert.deepEqual(await pages(list({ order: "ascending" }), 50), ids);
      assert.deepEqual(await pages(list({ order: "descending" }), 2), ids.toReversed());
      const second = await line.application.list({ limit: 3, iterator: ids[2] });
      assert.deepEqual(
        second.data.map(({ id }) => id),
        ids.slice(3, 6),
      );
      assert.equal(second.done, false);
      const back = await line.application.list({ limit: 2, iterator: second.prevIterator });
      assert.deepEqual(
        back.data.map(({ id }) => id),
        ids.slice(1, 3),
      );
    }
    // An iterator is a position: its owner may be gone.
    await t.svix.application.delete(ids[2]);
    assert.equal((await t.svix.application.list({ limit: 1, iterator: ids[2] })).data[0].id, ids[3]);
    // What comes after the end is found from the last iterator.
    const end = await t.svix.application.list({ limit: 250 });
    assert.equal(end.done, true);
    const more = await t.app();
    assert.deepEqual(
      (await t.svix.application.list({ iterator: end.iterator })).data.map(({ id }) => id),
      [more],
    );
  });

  it("leave out what has no endpoints, or none that is enabled", async () => {
    const [none, off, on] = [await t.app(), await t.app(), await t.app()];
    await t.endpoint(off, "http://127.0.0.1:9/", { disabled: true });
    await t.endpoint(on, "http://127.0.0.1:9/");
    await t.endpoint(on, "http://127.0.0.1:9/", { disabled: true });
    const found = async (more) =>
      (await t.svix.application.list({ limit: 250, ...more })).data.map(({ id }) => id).filter((id) => [none, off, on].includes(id));
    assert.deepEqual(await found({ excludeAppsWithNoEndpoints: true }), [off, on]);
    assert.deepEqual(await found({ excludeAppsWithDisabledEndpoints: true, excludeAppsWithNoEndpoints: true }), [on]);
    assert.deepEqual(await found({ excludeAppsWithSvixPlayEndpoints: true }), [none, off, on]);
  });

  it("refuse what they do not have", async () => {
    await t.refusals(
      [
        ["limit=0", "limit"],
        ["limit=251", "limit"],
        ["limit=-1", "limit"],
        ["limit=x", "limit"],
        ["order=up", "order"],
        ["iterator=nonsense", "iterator"],
        ["iterator=ep_000000000000000000000000000", "iterator"],
        ["exclude_apps_with_no_endpoints=perhaps", "exclude_apps_with_no_endpoints"],
      ].map(([query, name]) => [query, "GET", `/app?${query}`, {}, [`query.${name}`]]),
    );
  });
});

describe("applications of two tenants", () => {
  const t = world();

  it("do not meet", async () => {
    const { readFileSync } = await import("node:fs");
    const admin = JSON.parse(readFileSync(`${t.server.home}/data/admin.json`, "utf8")).token;
    const made = await t.raw("POST", "/api/v1/tenants", { body: { name: "other" }, token: admin });
    const other = t.connect(made.json().token);
    const mine = await t.svix.application.create({ name: "mine", uid: "shared" });
    const theirs = await other.application.create({ name: "theirs", uid: "shared" });
    assert.notEqual(mine.id, theirs.id);
    await refused(other.application.get(mine.id), 404);
    await refused(other.application.delete(mine.id), 404);
    assert.equal((await other.application.get("shared")).id, theirs.id);
    assert.deepEqual(
      (await other.application.list()).data.map(({ id }) => id),
      [theirs.id],
    );
    assert.equal(t.server.token, DEV_TOKEN);
  });
});
