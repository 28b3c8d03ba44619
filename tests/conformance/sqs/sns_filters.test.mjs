// Filter policies of SNS subscriptions: every operator, on attributes and on bodies.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { binary, each, number, text, TOGETHER, unique, world } from "./harness.mjs";
import { RAW, refused, topicsOf } from "./topics.mjs";

describe("SNS filters", TOGETHER, () => {
  const t = world();
  const { topic, subscribe, publish, connected } = topicsOf(t);

  describe("filters", TOGETHER, () => {
    // Each row: operator, policy, what matches, what does not. A value is that of attribute k; an object is all attributes.
    const array = (...list) => text(JSON.stringify(list), "String.Array");
    const rows = [
      ["a string", { k: ["a", "b"] }, [text("a"), text("b")], [text("c"), text("A"), text(""), number(1), {}]],
      ["a number", { k: [1, 2.5] }, [number(1), number("1.0"), number("2.50")], [number(2), text("1"), {}]],
      ["a string that looks like a number", { k: ["1"] }, [text("1")], [number(1)]],
      ["prefix", { k: [{ prefix: "ab" }] }, [text("ab"), text("abc")], [text("a"), text("xab"), {}]],
      ["suffix", { k: [{ suffix: "yz" }] }, [text("yz"), text("xyz")], [text("z"), text("yzx"), {}]],
      ["equals-ignore-case", { k: [{ "equals-ignore-case": "Ab" }] }, [text("AB"), text("ab")], [text("abc"), {}]],
      ["anything-but a string", { k: [{ "anything-but": "a" }] }, [text("b"), text("A")], [text("a"), {}]],
      ["anything-but a list", { k: [{ "anything-but": ["a", "b"] }] }, [text("c")], [text("a"), text("b"), {}]],
      ["anything-but a number", { k: [{ "anything-but": 1 }] }, [number(2)], [number(1), number("1.0"), {}]],
      ["anything-but a prefix", { k: [{ "anything-but": { prefix: "a" } }] }, [text("ba")], [text("ab"), {}]],
      ["numeric =", { k: [{ numeric: ["=", 1] }] }, [number(1), number("1e0")], [number(2), text("1"), {}]],
      ["numeric <", { k: [{ numeric: ["<", 1] }] }, [number("0.9"), number(-5)], [number(1), {}]],
      ["numeric <=", { k: [{ numeric: ["<=", 1] }] }, [number(1), number(0)], [number("1.1")]],
      ["numeric >", { k: [{ numeric: [">", -1] }] }, [number(0)], [number(-1), number(-2)]],
      ["numeric >=", { k: [{ numeric: [">=", 100] }] }, [number(100), number("1e3")], [number(99)]],
      ["numeric range", { k: [{ numeric: [">", 0, "<=", 10] }] }, [number(1), number(10)], [number(0), number(11)]],
      ["exists", { k: [{ exists: true }] }, [text("x"), number(1), binary([1])], [{ other: text("x") }, {}]],
      ["does not exist", { k: [{ exists: false }] }, [{ other: text("x") }], [text("x"), {}]],
      ["cidr", { k: [{ cidr: "10.0.0.0/24" }] }, [text("10.0.0.7")], [text("10.0.1.7"), text("nonsense"), {}]],
      ["any condition of a key", { k: ["a", { prefix: "b" }, 3] }, [text("a"), text("bb"), number(3)], [text("c")]],
      [
        "all keys",
        { k: ["a"], l: ["b"] },
        [{ k: text("a"), l: text("b"), m: text("c") }],
        [{ k: text("a") }, { k: text("a"), l: text("x") }],
      ],
      [
        "$or",
        { $or: [{ k: ["a"] }, { l: ["b"] }] },
        [{ k: text("a") }, { l: text("b"), k: text("x") }],
        [{ k: text("x") }, {}],
      ],
      ["an array of strings", { k: ["a"] }, [array("a"), array("x", "a"), array(1, "a")], [array("x"), array()]],
    ];
    const attributes = (sample) => ("DataType" in sample ? { k: sample } : sample);

    /** The bodies that come, of messages m0, m1… with these attributes or texts. */
    async function through(policy, samples, scope) {
      const FilterPolicy = JSON.stringify(policy);
      const { TopicArn, queue } = await connected({ ...RAW, FilterPolicy, ...(scope && { FilterPolicyScope: scope }) });
      for (const sample of samples) await publish(TopicArn, ...sample);
      const got = [];
      for (let some = await queue.receive(); some.length > 0; some = await queue.receive()) got.push(...some);
      return got.map(({ Body }) => Body).sort();
    }

    for (const [operator, policy, yes, no] of rows)
      it(`match attributes: ${operator}`, async () => {
        const usable = [...yes, ...no].filter((sample) => sample.StringValue !== ""); // an empty value cannot be published
        const samples = usable.map((sample, i) => [`m${i}`, { MessageAttributes: attributes(sample) }]);
        assert.deepEqual(await through(policy, samples), yes.map((_, i) => `m${i}`).sort());
      });

    const bodies = [
      ["a value", { k: ["a"] }, [{ k: "a" }, { k: "a", l: 1 }], [{ k: "b" }, {}, { k: { k: "a" } }]],
      [
        "numbers, booleans and null",
        { k: [1, true, null] },
        [{ k: 1 }, { k: true }, { k: null }, { k: 1.0 }],
        [{ k: "1" }, { k: false }, {}],
      ],
      ["nested keys", { a: { b: ["x"] } }, [{ a: { b: "x", c: 1 } }], [{ a: { b: "y" } }, { a: "x" }, { b: "x" }]],
      ["arrays of values", { k: ["a"] }, [{ k: ["x", "a"] }], [{ k: ["x"] }, { k: [] }]],
      ["arrays on the way", { a: { b: ["x"] } }, [{ a: [{ b: "y" }, { b: "x" }] }], [{ a: [{ b: "y" }] }]],
      [
        "operators",
        { n: [{ numeric: [">", 1] }], s: [{ prefix: "p" }] },
        [{ n: 2, s: "pq" }],
        [
          { n: 1, s: "pq" },
          { n: "2", s: "pq" },
        ],
      ],
      ["absence", { k: [{ exists: false }] }, [{ l: 1 }], [{ k: 1 }]],
    ];
    for (const [kind, policy, yes, no] of bodies)
      it(`match bodies: ${kind}`, async () => {
        const all = [...yes, ...no].map((body, i) => ({ ...body, unique: `m${i}` }));
        const samples = [...all.map((body) => [JSON.stringify(body)]), ["not json"], ["[]"]];
        const expected = yes.map((body, i) => JSON.stringify({ ...body, unique: `m${i}` })).sort();
        assert.deepEqual(await through(policy, samples, "MessageBody"), expected);
      });

    it("are refused when they are none", async () => {
      const [TopicArn, queue] = [await topic(), await t.queue()];
      const keys = (count) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, ["v"]]));
      await each(
        [
          ["not JSON", "nonsense"],
          ["a list", "[]"],
          ["a value that is no list", '{"k":"a"}'],
          ["an empty list", '{"k":[]}'],
          ["an unknown operator", '{"k":[{"like":"a"}]}'],
          ["two operators", '{"k":[{"prefix":"a","suffix":"b"}]}'],
          ["an unknown comparison", '{"k":[{"numeric":["!",1]}]}'],
          ["a comparison with a text", '{"k":[{"numeric":["<","1"]}]}'],
          ["exists with a text", '{"k":[{"exists":"yes"}]}'],
          ["a nested key for attributes", '{"a":{"b":["c"]}}'],
          ["six keys", JSON.stringify(keys(6))],
          [
            "too many combinations",
            JSON.stringify({
              a: Array.from({ length: 20 }, (_, i) => `${i}`),
              b: Array.from({ length: 8 }, (_, i) => `${i}`),
            }),
          ],
        ],
        (_, FilterPolicy) =>
          refused(subscribe(TopicArn, queue, { FilterPolicy }), "InvalidParameter", /FilterPolicy|Attributes Reason/),
      );
      await refused(subscribe(TopicArn, queue, { FilterPolicyScope: "Nonsense" }), "InvalidParameter");
      await subscribe(TopicArn, queue, { FilterPolicy: JSON.stringify(keys(5)) });
    });
  });
});
