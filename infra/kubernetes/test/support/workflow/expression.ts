import { runInNewContext } from 'node:vm';

/** Names that an expression may use: `github`, `needs`, `matrix`, and so on. */
export type Scope = Readonly<Record<string, unknown>>;

const FUNCTIONS = {
  always: () => true,
  contains: (all: string | readonly unknown[], one: unknown) => all.includes(String(one)),
  fromJSON: (json: string) => JSON.parse(json),
};

/** Evaluates an expression. Those in use mean the same in JavaScript; what a scope lacks is empty, as on GitHub. */
export const evaluate = (expression: string, scope: Scope): unknown =>
  runInNewContext(expression, { ...FUNCTIONS, ...scope }) ?? '';

/** Replaces each `${{ … }}` in a text. */
export const interpolate = (text: string, scope: Scope): string =>
  text.replaceAll(/\$\{\{(.+?)\}\}/g, (_whole, expression: string) => String(evaluate(expression.trim(), scope)));

export const interpolateAll = (texts: Readonly<Record<string, string>>, scope: Scope): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, interpolate(text, scope)]));
