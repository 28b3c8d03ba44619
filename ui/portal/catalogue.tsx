/** The event types that can be received: what each means, its schema and an example. */
import { indented } from "../lib/json";
import { Await, Code, Empty, State } from "../lib/kit";
import { useLoad } from "../lib/load";
import { usePortal, useWords } from "./context";
import { byGroup } from "./endpoint_form";
import { EventType } from "./webhooks";

/** Of the newest version. */
function schemaOf(type: EventType): Record<string, unknown> | undefined {
  const versions = Object.keys(type.schemas ?? {}).sort((a, b) => Number(b) - Number(a));
  return versions.length ? type.schemas![versions[0]] : undefined;
}

function exampleOf(schema: Record<string, unknown>): unknown {
  return schema.example ?? (Array.isArray(schema.examples) ? schema.examples[0] : undefined);
}

function TypeDetails({ type }: { type: EventType }) {
  const { t } = useWords();
  const schema = schemaOf(type);
  const example = schema && exampleOf(schema);
  return (
    <details data-type={type.name}>
      <summary>
        <strong>{type.name}</strong> {type.deprecated && <State tone="warn">{t("events.deprecated")}</State>}{" "}
        <span className="quiet">{type.description}</span>
      </summary>
      {example !== undefined && (
        <>
          <h3>{t("events.example")}</h3>
          <Code text={indented(JSON.stringify(example))} label={t("events.example")} />
        </>
      )}
      {schema ? (
        <>
          <h3>{t("events.schema")}</h3>
          <Code text={indented(JSON.stringify(schema))} label={t("events.schema")} />
        </>
      ) : (
        <p className="quiet">{t("events.noschema")}</p>
      )}
    </details>
  );
}

export function Catalogue() {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const types = useLoad((signal) => webhooks.eventTypes(true, signal), []);
  return (
    <>
      <h1>{t("nav.events")}</h1>
      <p className="quiet">{t("events.about")}</p>
      <Await from={types}>
        {(found) =>
          found.length === 0 ? (
            <Empty title={t("events.none")}>
              <p>{t("events.none.how")}</p>
            </Empty>
          ) : (
            <>
              {byGroup(found).map(([group, some]) => (
                <section className="card" key={group}>
                  <h2>{group || t("events.other")}</h2>
                  {some.map((one) => (
                    <TypeDetails key={one.name} type={one} />
                  ))}
                </section>
              ))}
            </>
          )
        }
      </Await>
    </>
  );
}
