import type { Locale } from '@svc/contracts';
import { html } from '@svc/pages';
import type { Mail, MailPage, MailText, MailTexts } from './mail.ts';
import { english } from './texts/en.ts';
import { italian } from './texts/it.ts';

/** A rendered mail. */
export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

const FOOTER: Readonly<Record<Locale, string>> = {
  en: 'This mail was sent automatically by svc.',
  it: 'Questa email è stata inviata automaticamente da svc.',
};
const FONT = 'font-family:system-ui,sans-serif;font-size:16px;line-height:1.5;color:#1b1b1f';
const BUTTON = 'display:inline-block;padding:12px 20px;border-radius:8px;background:#2d4bd8;color:#ffffff';

/** Returns the address of the linked page. Opening it changes nothing until its button is pressed. */
const mailLink = (publicBaseUrl: string, { page, token }: { page: MailPage; token?: string }): string =>
  `${publicBaseUrl}/${page}${token === undefined ? '' : `?${new URLSearchParams({ token })}`}`;

/** Renders a mail in its language, as text and as HTML with the same content. */
export const renderMail = (mail: Pick<Mail, 'kind' | 'locale' | 'data'>, publicBaseUrl: string): RenderedMail => {
  const { subject, paragraphs, link } = textOf(mail);
  const url = link && mailLink(publicBaseUrl, link);
  const footer = FOOTER[mail.locale];
  const lines = [...paragraphs, ...(link && url ? [`${link.label}: ${url}`] : []), '-- ', footer];
  const body = html`<!doctype html>
<html lang="${mail.locale}">
<head><meta charset="utf-8"><title>${subject}</title></head>
<body style="${FONT}">
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}
${link && url && html`<p><a href="${url}" style="${BUTTON}">${link.label}</a></p>\n`}
<p style="color:#5c5c66;font-size:14px">${footer}</p>
</body>
</html>
`;
  return { subject, text: `${lines.join('\n\n')}\n`, html: body.markup };
};

const textOf = ({ kind, locale, data }: Pick<Mail, 'kind' | 'locale' | 'data'>): MailText => {
  const texts: MailTexts = locale === 'it' ? italian : english;
  // The data of a mail match its kind, as `Mail` declares; the compiler cannot follow that through the table.
  const render = texts[kind] as (data: Mail['data']) => MailText;
  return render(data);
};
