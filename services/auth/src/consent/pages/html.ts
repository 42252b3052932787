const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Markup that is safe to put into a page. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** What can stand in a template: texts are escaped, markup is not, lists are joined, `undefined` and `false` are nothing. */
export type HtmlPart = string | number | Html | undefined | false | readonly HtmlPart[];

/** Builds markup; everything put in that is not itself markup is escaped, for texts and for quoted attributes alike. */
export const html = (strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html =>
  new Html(strings.reduce((markup, text, index) => markup + render(parts[index - 1]) + text));

const render = (part: HtmlPart): string => {
  if (part === undefined || part === false) return '';
  if (part instanceof Html) return part.markup;
  if (typeof part === 'object') return part.map(render).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
};
