import { createHash } from 'node:crypto';
import type { ReplyContent } from '@svc/service-kit';

/** Markup that is safe to put into a page. */
export interface Html {
  readonly markup: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Template tag: every value is escaped, except markup made by this tag and lists of it. */
export const html = (texts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html => ({
  markup: texts.reduce((page, text, index) => `${page}${render(values[index - 1] ?? '')}${text}`),
});

const render = (value: string | Html | readonly Html[]): string => {
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
};

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 28rem; margin: 4rem auto; padding: 0 1rem; }
main { border: 1px solid #8884; border-radius: 0.75rem; padding: 1.5rem; }
.note { opacity: 0.75; font-size: 0.9rem; }
.amount { font-size: 1.75rem; margin: 0.25rem 0 1rem; }
.alert { border-left: 0.25rem solid #c33; padding-left: 0.75rem; }
form { display: grid; gap: 0.5rem; margin-top: 0.75rem; }
button, select { font: inherit; padding: 0.6rem; border-radius: 0.5rem; border: 1px solid #8888; cursor: pointer; }
button.main { background: #2456d6; border-color: #2456d6; color: #fff; }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * A page without scripts or outside resources. `redirects` are the URLs to which its forms lead in the end: browsers hold
 * the policy's form-action against redirects too.
 */
export const pageReply = (title: string, body: Html, redirects: readonly string[]): ReplyContent => {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
<p class="note">Sandbox payments: no money is taken.</p>
</body>
</html>
`;
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: page.markup,
    headers: {
      'content-security-policy': [
        "default-src 'none'",
        `style-src 'sha256-${STYLE_HASH}'`,
        `form-action 'self' ${formTargets(redirects)}`.trim(),
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'x-frame-options': 'DENY',
    },
  };
};

/** Origins as policy sources; IPv6 literals have no source expression, so their scheme stands for them. */
const formTargets = (urls: readonly string[]): string => {
  const sources = urls.map((url) => {
    const { hostname, origin, protocol } = new URL(url);
    return hostname.startsWith('[') ? protocol : origin;
  });
  return [...new Set(sources)].join(' ');
};

/** An amount as people read it: `5.00 EUR`, with as many more digits as it has. */
export const formatAmount = (amountMicros: number, currency: string): string => {
  const micros = BigInt(amountMicros);
  const fraction = String(micros % 1_000_000n)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${micros / 1_000_000n}.${fraction} ${currency}`;
};
