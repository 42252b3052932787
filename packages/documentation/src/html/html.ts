/** Text that is HTML already. Made by `html` and `trustedHtml` alone. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: nothing for undefined and false. */
export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/** HTML from a template; what is put in is escaped, wherever it stands. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(parts.map((part, index) => part + render(values[index])).join(''));

/** Takes text for HTML as it is: what a renderer of ours has made. */
export const trustedHtml = (text: string): Html => new Html(text);

/** Text with everything escaped that HTML reads otherwise. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const render = (value: HtmlValue): string => {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'string') return escapeHtml(value);
  return typeof value === 'number' ? String(value) : value.map(render).join('');
};
