import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Card, CopyButton } from '../ui/index.ts';
import { SIGNATURE_SAMPLE } from './signature-sample.ts';

/** Explains how a receiver checks that an event is authentic. */
export const SignatureHelp = (): ReactElement => {
  const { webhooks, common } = useI18n().messages;
  return (
    <Card
      title={webhooks.helpTitle}
      actions={<CopyButton text={SIGNATURE_SAMPLE} label={`${common.copy}: ${webhooks.helpCode}`} />}
    >
      <ol className="steps">
        {webhooks.help.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <h3>{webhooks.helpCode}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, so the keyboard must reach it. */}
      <section className="code" tabIndex={0} aria-label={webhooks.helpCode}>
        <pre>
          <code>{SIGNATURE_SAMPLE}</code>
        </pre>
      </section>
    </Card>
  );
};
