import { useSpeaker } from "./i18n";

/** A moment: how long ago, with the exact time on hover and for screen readers. */
export function Time({ at, exact }: { at: string | null | undefined; exact?: boolean }) {
  const { ago, moment } = useSpeaker();
  if (!at) return <>–</>;
  const date = new Date(at);
  return (
    <time dateTime={at} title={exact ? ago(date) : moment(date)}>
      {exact ? moment(date) : ago(date)}
    </time>
  );
}

/** For a field of type datetime-local, which speaks of local time without its zone. */
export function toLocalField(at: Date): string {
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

export function fromLocalField(text: string): string | undefined {
  const at = text ? new Date(text) : undefined;
  return at && !Number.isNaN(at.getTime()) ? at.toISOString() : undefined;
}
