const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe markup. Only `html` and `trustedHtml` create it. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value in a template. Lists are joined; undefined and false render nothing. */
export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/** Builds markup from a template and escapes every value that is not markup, in text and in quoted attributes. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(parts.map((part, index) => part + render(values[index])).join(''));

/** Marks the output of a renderer as safe. Never pass it user input. */
export const trustedHtml = (markup: string): Html => new Html(markup);

/** Escapes the characters that have a meaning in text and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);

const render = (value: HtmlValue): string => {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'string') return escapeHtml(value);
  return typeof value === 'number' ? String(value) : value.map(render).join('');
};
