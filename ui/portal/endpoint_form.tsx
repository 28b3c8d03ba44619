/** Adds or changes an endpoint. */
import { useState } from "react";
import { asNumber, newKey } from "../lib/api";
import { Await, Button, Check, Dialog, Form, TextField } from "../lib/kit";
import { useLoad } from "../lib/load";
import { usePortal, useWords } from "./context";
import { Endpoint, EventType, Headers } from "./webhooks";

interface HeaderRow {
  name: string;
  value: string;
  /** Its value is not shown; it stays as it is unless somebody writes another one. */
  secret: boolean;
  /** "": a new one. */
  was: string;
}

function rowsOf(headers?: Headers): HeaderRow[] {
  if (!headers) return [];
  const open = Object.entries(headers.headers).map(([name, value]) => ({ name, value, secret: false, was: name }));
  return [...open, ...headers.sensitive.map((name) => ({ name, value: "", secret: true, was: name }))];
}

export function byGroup(types: EventType[]): [string, EventType[]][] {
  const groups = new Map<string, EventType[]>();
  for (const one of types) {
    const group = one.groupName ?? "";
    groups.set(group, [...(groups.get(group) ?? []), one]);
  }
  return [...groups].sort(([a], [b]) => (a === "" ? 1 : b === "" ? -1 : a.localeCompare(b)));
}

export function EventTypePicker(props: {
  types: EventType[];
  chosen: string[];
  set: (chosen: string[]) => void;
}) {
  const { t } = useWords();
  const known = new Set(props.types.map((one) => one.name));
  // One that is archived by now stays chosen until somebody takes it out.
  const gone = props.chosen.filter((name) => !known.has(name)).map((name) => ({ name, description: t("events.archived"), archived: true, deprecated: false }));
  const toggle = (name: string, on: boolean) =>
    props.set(on ? [...props.chosen, name] : props.chosen.filter((one) => one !== name));
  return (
    <div className="types">
      {byGroup([...props.types, ...gone]).map(([group, types]) => (
        <div key={group} role="group" aria-label={group || t("events.other")}>
          <h3>{group || t("events.other")}</h3>
          {types.map((one) => (
            <Check
              key={one.name}
              name={`type:${one.name}`}
              value={props.chosen.includes(one.name)}
              set={(on) => toggle(one.name, on)}
              label={
                <>
                  {one.name} <span className="quiet">{one.description}</span>
                </>
              }
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function HeaderRows({ rows, set, wrong }: { rows: HeaderRow[]; set: (rows: HeaderRow[]) => void; wrong?: string }) {
  const { t } = useWords();
  const change = (at: number, part: Partial<HeaderRow>) => set(rows.map((row, i) => (i === at ? { ...row, ...part } : row)));
  return (
    <fieldset>
      <legend>{t("form.headers")}</legend>
      <p className="quiet">{t("form.headers.hint")}</p>
      {rows.map((row, i) => (
        <div className="header-row" key={i}>
          <TextField label={t("form.header.name")} name={`header-name-${i}`} value={row.name} set={(name) => change(i, { name })} />
          <TextField
            label={t("form.header.value")}
            name={`header-value-${i}`}
            value={row.value}
            placeholder={row.secret ? t("form.header.kept") : undefined}
            set={(value) => change(i, { value })}
          />
          <Button onClick={() => set(rows.filter((_, at) => at !== i))} aria-label={t("form.header.remove", { name: row.name })}>
            {t("form.remove")}
          </Button>
        </div>
      ))}
      {wrong && (
        <p className="wrong" role="alert">
          {wrong}
        </p>
      )}
      <Button onClick={() => set([...rows, { name: "", value: "", secret: false, was: "" }])}>{t("form.header.add")}</Button>
    </fieldset>
  );
}

interface Given {
  types: EventType[];
  headers?: Headers;
}

export function EndpointForm(props: { endpoint?: Endpoint; onClose: () => void; onDone: (endpoint: Endpoint) => void }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const id = props.endpoint?.id;
  const given = useLoad<Given>(
    async (signal) => {
      const [types, headers] = await Promise.all([
        webhooks.eventTypes(false, signal),
        id ? webhooks.headers(id, signal) : undefined,
      ]);
      return { types, headers };
    },
    [id],
  );
  return (
    <Dialog title={id ? t("endpoint.edit") : t("endpoint.add")} onClose={props.onClose}>
      <Await from={given}>{(loaded) => <Fields {...props} given={loaded} />}</Await>
    </Dialog>
  );
}

const names = (text: string) => text.split(/[\s,]+/).filter(Boolean);

function Fields(props: { endpoint?: Endpoint; given: Given; onClose: () => void; onDone: (endpoint: Endpoint) => void }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const { endpoint, given } = props;
  const [key] = useState(newKey);
  const [url, setUrl] = useState(endpoint?.url ?? "https://");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [some, setSome] = useState(!!endpoint?.eventTypes);
  const [types, setTypes] = useState(endpoint?.eventTypes ?? []);
  const [channels, setChannels] = useState((endpoint?.channels ?? []).join(", "));
  const [rate, setRate] = useState(String(endpoint?.throttleRate ?? ""));
  const [headers, setHeaders] = useState(() => rowsOf(given.headers));

  const save = async () => {
    const wanted = {
      url: url.trim(),
      description,
      eventTypes: some ? types : null,
      channels: names(channels).length ? names(channels) : null,
      throttleRate: rate.trim() ? asNumber(rate) : null,
    };
    const filled = headers.filter((row) => row.name.trim());
    if (!endpoint) {
      const all = Object.fromEntries(filled.map((row) => [row.name.trim(), row.value]));
      props.onDone(await webhooks.create({ ...wanted, ...(filled.length ? { headers: all } : {}) }, key));
      return;
    }
    const was = rowsOf(given.headers);
    const set = filled.filter((row) => {
      const old = was.find((one) => one.name === row.name.trim());
      return !old || (old.secret ? row.value !== "" : old.value !== row.value);
    });
    const kept = new Set(filled.map((row) => row.name.trim()));
    const gone = was.map((row) => row.name).filter((name) => !kept.has(name));
    if (set.length || gone.length) {
      await webhooks.changeHeaders(endpoint.id, Object.fromEntries(set.map((row) => [row.name.trim(), row.value])), gone);
    }
    props.onDone(await webhooks.change(endpoint.id, wanted));
  };

  return (
    <Form submit={endpoint ? t("form.save") : t("form.create")} work={save} onCancel={props.onClose}>
      {(wrong) => (
        <>
          <TextField
            label={t("form.url")}
            hint={t("form.url.hint")}
            name="url"
            inputMode="url"
            value={url}
            set={setUrl}
            error={wrong("url")}
          />
          <TextField
            label={t("form.description")}
            name="description"
            value={description}
            set={setDescription}
            error={wrong("description")}
          />
          <fieldset>
            <legend>{t("form.events")}</legend>
            <Check radio name="events" label={t("form.events.all")} value={!some} set={() => setSome(false)} />
            <Check radio name="events" label={t("form.events.some")} value={some} set={() => setSome(true)} />
            {some &&
              (given.types.length || types.length ? (
                <EventTypePicker types={given.types} chosen={types} set={setTypes} />
              ) : (
                <p className="quiet">{t("events.none")}</p>
              ))}
            {(wrong("eventTypes") ?? wrong("filterTypes")) && (
              <p className="wrong" role="alert">
                {wrong("eventTypes") ?? wrong("filterTypes")}
              </p>
            )}
          </fieldset>
          <TextField
            label={t("form.channels")}
            hint={t("form.channels.hint")}
            name="channels"
            value={channels}
            set={setChannels}
            error={wrong("channels")}
          />
          <TextField
            label={t("form.rate")}
            hint={t("form.rate.hint")}
            name="rate"
            inputMode="numeric"
            value={rate}
            set={setRate}
            error={wrong("throttleRate") ?? wrong("rateLimit")}
          />
          <HeaderRows rows={headers} set={setHeaders} wrong={wrong("headers")} />
        </>
      )}
    </Form>
  );
}
