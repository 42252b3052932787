import type { ReactElement } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Card, CopyButton } from '../ui/index.ts';

/** Shown to partners as it stands; a test runs it against a signed delivery. */
const SIGNATURE_SAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

const TOLERANCE_SECONDS = 300;

// rawBody: the bytes as they came; header: X-Svc-Signature; secret: whsec_…
export function isGenuine(rawBody, header, secret) {
  const parts = (header ?? '').split(',').map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!(Math.abs(Date.now() / 1000 - Number(time)) <= TOLERANCE_SECONDS)) return false;
  const expected = createHmac('sha256', secret).update(time + '.').update(rawBody).digest();
  // Two while the secret is being replaced: one that fits is enough.
  const signatures = parts.filter(([name, value]) => name === 'v1' && /^[0-9a-f]{64}$/.test(value));
  return signatures.some(([, value]) => timingSafeEqual(expected, Buffer.from(value, 'hex')));
}
`;

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
