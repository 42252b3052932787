import { hash } from 'node:crypto';

/** A style sheet and the source expression that allows it in a content security policy. */
export interface Style {
  readonly css: string;
  readonly source: string;
}

/** Joins style sheets into one and hashes it. Call it once per style, not once per page. */
export const defineStyle = (...sheets: readonly string[]): Style => {
  const css = sheets.join('');
  return { css, source: `'sha256-${hash('sha256', css, 'base64')}'` };
};
