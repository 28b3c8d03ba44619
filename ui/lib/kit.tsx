/** What pages are made of. Every part works by keyboard and says what it is to a screen reader. */
import {
  ButtonHTMLAttributes,
  createContext,
  FormEvent,
  ReactNode,
  useCallback,
  useContext,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import { ApiError } from "./api";
import { useSpeaker } from "./i18n";
import { asError, Loaded } from "./load";

export function Button(props: ButtonHTMLAttributes<HTMLButtonElement> & { kind?: "primary" | "danger" | "plain" }) {
  const { kind = "plain", className = "", ...rest } = props;
  return <button type="button" {...rest} className={`button ${kind} ${className}`} />;
}

// ---- States: a glyph, a word and a colour, never the colour alone ----

export type Tone = "good" | "bad" | "busy" | "idle" | "off" | "warn";
const glyphs: Record<Tone, string> = { good: "✓", bad: "✕", busy: "●", idle: "○", off: "⊘", warn: "↻" };

export function State({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={`state ${tone}`}>
      <span aria-hidden="true">{glyphs[tone]}</span> {children}
    </span>
  );
}

// ---- Errors and empty places ----

export function useErrorText(): (error: ApiError) => string {
  const { t } = useSpeaker();
  return (error) => {
    if (error.code === "unreachable") return t("lib.unreachable");
    if (error.code === "broken") return `${t("lib.broken")} ${error.message}`;
    if (error.status === 403) return t("lib.forbidden");
    return error.message || `${error.status}`;
  };
}

export function Failure({ error, again }: { error: ApiError; again?: () => void }) {
  const { t } = useSpeaker();
  const text = useErrorText();
  return (
    <div className="failure" role="alert">
      <strong>{t("lib.failed")}</strong>
      <p>{text(error)}</p>
      {error.requestId && <p className="quiet">{t("lib.request", { id: error.requestId })}</p>}
      {again && <Button onClick={again}>{t("lib.again")}</Button>}
    </div>
  );
}

/** What was loaded, or why not. What is old is shown as old. */
export function Await<T>({ from, children }: { from: Loaded<T>; children: (data: T) => ReactNode }) {
  const { t } = useSpeaker();
  const { data, error, loading, again } = from;
  if (data === undefined) {
    if (error) return <Failure error={error} again={again} />;
    return (
      <p className="quiet" role="status">
        {t("lib.loading")}
      </p>
    );
  }
  return (
    <div aria-busy={loading} className={error ? "old" : undefined}>
      {error && <Failure error={error} again={again} />}
      {children(data)}
    </div>
  );
}

/** Teaches what would be here and how it comes. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

// ---- Dialogs ----

export function Dialog(props: { title: string; onClose: () => void; children: ReactNode }) {
  const { t } = useSpeaker();
  const id = useId();
  const ref = useRef<HTMLDialogElement>(null);
  const close = useRef(props.onClose);
  close.current = props.onClose;
  useEffect(() => {
    const dialog = ref.current!;
    const before = document.activeElement as HTMLElement | null;
    const cancelled = (event: Event) => {
      event.preventDefault();
      close.current();
    };
    dialog.addEventListener("cancel", cancelled);
    dialog.showModal();
    return () => {
      dialog.removeEventListener("cancel", cancelled);
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return (
    <dialog ref={ref} aria-labelledby={id}>
      <header>
        <h2 id={id}>{props.title}</h2>
        <Button onClick={props.onClose} aria-label={t("lib.close")} className="icon">
          <span aria-hidden="true">✕</span>
        </Button>
      </header>
      {props.children}
    </dialog>
  );
}

/** A form that does one thing: it cannot be sent twice at once, and what was wrong stands where it belongs. */
export function Form(props: {
  submit: string;
  danger?: boolean;
  /** Throws what the server said. */
  work: () => Promise<void>;
  onCancel?: () => void;
  extra?: ReactNode;
  disabled?: boolean;
  children: (wrong: (field: string) => string | undefined) => ReactNode;
}) {
  const { t } = useSpeaker();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const alive = useRef(true);
  useEffect(() => {
    alive.current = true;
    return () => {
      alive.current = false;
    };
  }, []);
  const shown = new Set<string>();
  const wrong = (field: string) => {
    const found = error?.fields.filter((one) => one.field === field || one.field.startsWith(field + "/")) ?? [];
    found.forEach((one) => shown.add(one.field));
    // Of what is inside the field, such as one of several headers, its name is said, too.
    const said = found.map((one) => (one.field === field ? one.text : `${one.field.slice(field.length + 1)}: ${one.text}`));
    return said.length ? said.join(" · ") : undefined;
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await props.work();
    } catch (thrown) {
      if (alive.current) setError(asError(thrown));
    } finally {
      if (alive.current) setBusy(false);
    }
  };
  const fields = props.children(wrong);
  const unplaced = error && (error.fields.length === 0 || error.fields.some((one) => !shown.has(one.field)));
  return (
    <form onSubmit={submit} noValidate>
      {fields}
      {unplaced && <Failure error={error} />}
      <footer>
        {props.extra}
        {props.onCancel && <Button onClick={props.onCancel}>{t("lib.cancel")}</Button>}
        <Button type="submit" kind={props.danger ? "danger" : "primary"} disabled={busy || props.disabled}>
          {props.submit}
        </Button>
      </footer>
    </form>
  );
}

// ---- Fields ----

export interface FieldProps {
  label: string;
  hint?: string;
  error?: string;
}

export function Field(props: FieldProps & { children: (of: Record<string, unknown>) => ReactNode }) {
  const id = useId();
  const about = [props.hint && id + "h", props.error && id + "e"].filter(Boolean).join(" ") || undefined;
  return (
    <div className="field">
      <label htmlFor={id}>{props.label}</label>
      {props.hint && (
        <p className="quiet" id={id + "h"}>
          {props.hint}
        </p>
      )}
      {props.children({ id, "aria-describedby": about, "aria-invalid": props.error ? true : undefined })}
      {props.error && (
        <p className="wrong" id={id + "e"} role="alert">
          <span aria-hidden="true">✕ </span>
          {props.error}
        </p>
      )}
    </div>
  );
}

export function TextField(
  props: FieldProps & {
    value: string;
    set: (value: string) => void;
    name: string;
    type?: string;
    placeholder?: string;
    inputMode?: "numeric" | "decimal" | "url";
  },
) {
  return (
    <Field {...props}>
      {(of) => (
        <input
          {...of}
          name={props.name}
          type={props.type ?? "text"}
          value={props.value}
          placeholder={props.placeholder}
          inputMode={props.inputMode}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => props.set(event.target.value)}
        />
      )}
    </Field>
  );
}

export function Choice(
  props: FieldProps & { value: string; set: (value: string) => void; name: string; options: [string, string][] },
) {
  return (
    <Field {...props}>
      {(of) => (
        <select {...of} name={props.name} value={props.value} onChange={(event) => props.set(event.target.value)}>
          {props.options.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Check(props: { label: ReactNode; value: boolean; set: (value: boolean) => void; name: string; radio?: boolean }) {
  return (
    <label className="check">
      <input
        type={props.radio ? "radio" : "checkbox"}
        name={props.name}
        checked={props.value}
        onChange={(event) => props.set(event.target.checked)}
      />
      <span>{props.label}</span>
    </label>
  );
}

// ---- Tables: cards where there is no room for one ----

export interface Column<Row> {
  title: string;
  cell: (row: Row) => ReactNode;
  end?: boolean;
}

export function Table<Row>(props: { caption: string; columns: Column<Row>[]; rows: Row[]; id: (row: Row) => string }) {
  return (
    <table>
      <caption className="hidden">{props.caption}</caption>
      <thead>
        <tr>
          {props.columns.map((column) => (
            <th key={column.title} scope="col" className={column.end ? "end" : undefined}>
              {column.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {props.rows.map((row) => (
          <tr key={props.id(row)} data-id={props.id(row)}>
            {props.columns.map((column) => (
              <td key={column.title} data-label={column.title} className={column.end ? "end" : undefined}>
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Figures({ items }: { items: [string, ReactNode][] }) {
  return (
    <dl className="figures">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

// ---- Messages that go away, read out by screen readers ----

const Say = createContext<(text: string) => void>(() => undefined);
const shown_ms = 8_000;

export function Toasts({ children }: { children: ReactNode }) {
  const { t } = useSpeaker();
  const [text, setText] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>();
  const say = useCallback((said: string) => {
    clearTimeout(timer.current);
    setText(said);
    timer.current = setTimeout(() => setText(""), shown_ms);
  }, []);
  return (
    <Say.Provider value={say}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {text && (
          <p className="toast">
            {text}
            <Button onClick={() => setText("")} aria-label={t("lib.dismiss")} className="icon">
              <span aria-hidden="true">✕</span>
            </Button>
          </p>
        )}
      </div>
    </Say.Provider>
  );
}

export const useSay = () => useContext(Say);

// ---- Code, secrets, and copying them ----

export function Code({ text, label }: { text: string; label: string }) {
  const { t } = useSpeaker();
  const say = useSay();
  const ref = useRef<HTMLPreElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(t("lib.copied"));
    } catch {  // Not in a frame without leave, nor without TLS: select it, so that the keyboard can.
      const range = document.createRange();
      range.selectNodeContents(ref.current!);
      getSelection()?.removeAllRanges();
      getSelection()?.addRange(range);
      ref.current!.focus();
    }
  };
  return (
    <div className="code">
      <pre ref={ref} tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
      <Button onClick={copy}>{t("lib.copy")}</Button>
    </div>
  );
}
