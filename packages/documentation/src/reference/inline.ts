import { type Html, trustedHtml } from '@svc/pages';
import { renderMarkdown } from '../markdown/index.ts';

/** Texts of the contract repeat: a code's meaning stands at each operation that answers it. */
const rendered = new Map<string, Html>();

/** Renders contract text with its backticks. */
export const inline = (text: string): Html => {
  const known = rendered.get(text);
  if (known !== undefined) return known;
  const { content } = renderMarkdown(text, { resolveLink: (href) => href });
  const html = trustedHtml(content.markup.replace(/^<p>/, '').replace(/<\/p>\s*$/, ''));
  rendered.set(text, html);
  return html;
};
