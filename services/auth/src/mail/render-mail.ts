import type { Locale } from '@svc/contracts';
import { COLORS, html } from '@svc/pages';
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
const color = (name: keyof typeof COLORS): string => COLORS[name][0];

/** Inline, as many mail programs drop style sheets; in the light theme, as few know another. */
const STYLES = {
  body: `margin:0;padding:24px 12px;background:${color('ground')};font-family:system-ui,sans-serif;font-size:16px;line-height:1.5;color:${color('text')}`,
  card: `max-width:480px;margin:0 auto;padding:24px;background:${color('surface')};border:1px solid ${color('line')};border-radius:16px`,
  brand: 'margin:0 0 16px;font-size:18px;font-weight:600',
  mark: `display:inline-block;width:28px;height:28px;margin-right:8px;border-radius:8px;background:${color('accent')};color:${color('on-accent')};line-height:28px;text-align:center`,
  title: 'margin:0 0 12px;font-size:20px;line-height:1.3',
  button: `display:inline-block;padding:12px 20px;border-radius:8px;background:${color('accent')};color:${color('on-accent')};font-weight:500;text-decoration:none`,
  footer: `max-width:480px;margin:16px auto 0;color:${color('text-soft')};font-size:14px;text-align:center`,
} as const;

/** Returns the address of the linked page. Opening it changes nothing until its button is pressed. */
const mailLink = (publicBaseUrl: string, { page, token }: { page: MailPage; token?: string }): string =>
  `${publicBaseUrl}/${page}${token === undefined ? '' : `?${new URLSearchParams({ token })}`}`;

/** Renders a mail in its language, as text and as HTML with the same content. */
export const renderMail = (mail: Pick<Mail, 'kind' | 'locale' | 'data'>, publicBaseUrl: string): RenderedMail => {
  const { subject, paragraphs, link } = textOf(mail);
  const url = mailLink(publicBaseUrl, link);
  const footer = FOOTER[mail.locale];
  const lines = [...paragraphs, `${link.label}: ${url}`, '-- ', footer];
  const body = html`<!doctype html>
<html lang="${mail.locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light"><title>${subject}</title></head>
<body style="${STYLES.body}">
<div style="${STYLES.card}">
<p style="${STYLES.brand}"><span aria-hidden="true" style="${STYLES.mark}">∿</span>svc</p>
<h1 style="${STYLES.title}">${subject}</h1>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}
<p><a href="${url}" style="${STYLES.button}">${link.label}</a></p>
</div>
<p style="${STYLES.footer}">${footer}</p>
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
