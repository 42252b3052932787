/** A part of a template. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'print'; readonly pipeline: string }
  | { readonly kind: 'if' | 'with'; readonly pipeline: string; readonly then: Part[]; readonly otherwise: Part[] }
  | { readonly kind: 'range'; readonly names: readonly string[]; readonly pipeline: string; readonly then: Part[] };

/** A template's parts, and the templates that it defines. */
export interface Parsed {
  readonly parts: Part[];
  readonly defined: Map<string, Part[]>;
}

interface Token {
  readonly isAction: boolean;
  readonly text: string;
}

const ACTION = /\{\{(- )?((?:"(?:[^"\\]|\\.)*"|\/\*[\s\S]*?\*\/|[^"])*?)( -)?\}\}/g;

/** Splits a template into text and actions, without the white space that actions remove. */
const tokensOf = (template: string): Token[] => {
  const tokens: Token[] = [];
  let position = 0;
  let isTrimming = false;
  const pushText = (text: string): void => {
    tokens.push({ isAction: false, text: isTrimming ? text.trimStart() : text });
  };
  for (const match of template.matchAll(ACTION)) {
    const [whole, before, action = '', after] = match;
    const text = template.slice(position, match.index);
    pushText(before === undefined ? text : text.trimEnd());
    tokens.push({ isAction: true, text: action.trim() });
    position = match.index + whole.length;
    isTrimming = after !== undefined;
  }
  pushText(template.slice(position));
  return tokens;
};

/** Parses a template of Helm, as far as the chart uses them. Throws for anything else. */
export const parseTemplate = (template: string): Parsed => {
  const tokens = tokensOf(template);
  const defined = new Map<string, Part[]>();
  let index = 0;

  /** Parses up to the `else` or `end` of the surrounding action, and returns it. */
  const parseUntil = (): { parts: Part[]; ending: string } => {
    const parts: Part[] = [];
    for (let token = tokens[index++]; token !== undefined; token = tokens[index++]) {
      if (!token.isAction) parts.push({ kind: 'text', text: token.text });
      else if (token.text === 'end' || token.text === 'else') return { parts, ending: token.text };
      else if (!token.text.startsWith('/*')) parts.push(...parseAction(token.text));
    }
    return { parts, ending: '' };
  };

  const parseAction = (action: string): Part[] => {
    const [, keyword = '', rest = ''] = /^(if|with|range|define)\s+([\s\S]+)$/.exec(action) ?? [];
    if (keyword === '') return [{ kind: 'print', pipeline: action }];
    const { parts: then, ending } = parseUntil();
    const otherwise = ending === 'else' ? parseUntil() : { parts: [], ending };
    if (otherwise.ending !== 'end') throw new Error(`${action} has no end.`);
    if (keyword === 'if' || keyword === 'with')
      return [{ kind: keyword, pipeline: rest, then, otherwise: otherwise.parts }];
    if (ending === 'else') throw new Error(`${action}: else is not supported.`);
    if (keyword === 'define') {
      defined.set(rest.replaceAll('"', ''), then);
      return [];
    }
    const [, names = '', pipeline = rest] = /^(\$\w+(?:,\s*\$\w+)?)\s*:=\s*(.+)$/.exec(rest) ?? [];
    return [{ kind: 'range', names: names.split(/,\s*/).filter((name) => name !== ''), pipeline, then }];
  };

  const { parts, ending } = parseUntil();
  if (ending !== '') throw new Error(`${ending} ends nothing.`);
  return { parts, defined };
};
