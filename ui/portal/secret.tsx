/** The signing secret: shown on demand, replaced with an overlap, and how to verify with it. */
import { useState } from "react";
import { ApiError, newKey } from "../lib/api";
import { Button, Choice, Code, Dialog, Failure, Form, useSay } from "../lib/kit";
import { asError } from "../lib/load";
import { usePortal, useWords } from "./context";
import { Language, snippets } from "./snippets";

export function Secret({ endpoint }: { endpoint: string }) {
  const { t } = useWords();
  const { webhooks, maySeeSecret, mayRotate } = usePortal();
  const [secret, setSecret] = useState<string>();
  const [error, setError] = useState<ApiError>();
  const [rotating, setRotating] = useState(false);
  const reveal = async () => {
    try {
      setSecret((await webhooks.secret(endpoint)).key);
      setError(undefined);
    } catch (thrown) {
      setError(asError(thrown));
    }
  };
  return (
    <section className="card" aria-labelledby="secret">
      <h2 id="secret">{t("secret.title")}</h2>
      <p className="quiet">{t("secret.about")}</p>
      {secret && <Code text={secret} label={t("secret.title")} />}
      {error && <Failure error={error} again={reveal} />}
      <div className="row">
        {maySeeSecret && (
          <Button onClick={() => (secret ? setSecret(undefined) : reveal())} aria-expanded={!!secret}>
            {secret ? t("secret.hide") : t("secret.show")}
          </Button>
        )}
        {mayRotate && <Button onClick={() => setRotating(true)}>{t("secret.rotate")}</Button>}
      </div>
      <Verification />
      {rotating && (
        <Rotation
          endpoint={endpoint}
          onClose={() => setRotating(false)}
          onDone={() => {
            setRotating(false);
            if (secret) void reveal();
          }}
        />
      )}
    </section>
  );
}

function Rotation({ endpoint, onClose, onDone }: { endpoint: string; onClose: () => void; onDone: () => void }) {
  const { t } = useWords();
  const { webhooks } = usePortal();
  const say = useSay();
  const [key] = useState(newKey);
  const [grace, setGrace] = useState("86400");
  return (
    <Dialog title={t("secret.rotate")} onClose={onClose}>
      <p>{t("secret.rotate.about")}</p>
      <Form
        submit={t("secret.rotate")}
        onCancel={onClose}
        work={async () => {
          await webhooks.rotate(endpoint, Number(grace), key);
          say(t("secret.rotated"));
          onDone();
        }}
      >
        {(wrong) => (
          <Choice
            label={t("secret.overlap")}
            name="grace"
            value={grace}
            set={setGrace}
            error={wrong("gracePeriodSeconds")}
            options={[
              ["86400", t("secret.overlap.day")],
              ["3600", t("secret.overlap.hour")],
              ["604800", t("secret.overlap.week")],
              ["0", t("secret.overlap.none")],
            ]}
          />
        )}
      </Form>
    </Dialog>
  );
}

function Verification() {
  const { t } = useWords();
  const [language, setLanguage] = useState<Language>("Node.js");
  return (
    <details>
      <summary>{t("verify.title")}</summary>
      <p className="quiet">{t("verify.about")}</p>
      <Choice
        label={t("verify.language")}
        name="language"
        value={language}
        set={(one) => setLanguage(one as Language)}
        options={(Object.keys(snippets) as Language[]).map((one) => [one, one])}
      />
      <Code text={snippets[language]} label={t("verify.title")} />
    </details>
  );
}
