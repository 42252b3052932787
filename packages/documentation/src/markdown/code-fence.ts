/** Use of a block of code when a script follows its guide. */
export type FenceRole =
  /** Pasted into the one shell, in order; skipped if the command `needs` is given and fails. */
  | { readonly kind: 'run'; readonly needs?: string | undefined }
  /** Pasted into a second terminal, which stays open. */
  | { readonly kind: 'background' }
  /** Saved under this name. */
  | { readonly kind: 'file'; readonly name: string }
  /** Expected output of the previous block; `…` stands for anything. */
  | { readonly kind: 'output'; readonly of: 'run' | 'background' }
  /** Not executed, for this reason. */
  | { readonly kind: 'not-run'; readonly reason: string };

/** Info string of a block of code. */
export interface CodeFence {
  readonly language: string;
  /** Undefined if the fence names no role. */
  readonly role: FenceRole | undefined;
}

const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)"|=(\S+))?/g;

/**
 * Parses the info string after the backticks: a language, then one of `run`, `run needs="command"`, `background`,
 * `file=…`, `output`, `output=background`, `not-run="…"`.
 */
export const readCodeFence = (text: string): CodeFence => {
  const [, language = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(text) ?? [];
  const attributes = [...rest.matchAll(ATTRIBUTE)].map(
    ([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''] as const,
  );
  return { language, role: attributes[0] === undefined ? undefined : toRole(attributes[0], new Map(attributes)) };
};

const toRole = ([name, value]: readonly [string, string], attributes: ReadonlyMap<string, string>): FenceRole => {
  switch (name) {
    case 'run':
      return { kind: 'run', needs: attributes.get('needs') };
    case 'background':
      return { kind: 'background' };
    case 'file':
      return { kind: 'file', name: value };
    case 'output':
      return { kind: 'output', of: value === 'background' ? 'background' : 'run' };
    case 'not-run':
      return { kind: 'not-run', reason: value };
    default:
      throw new TypeError(`Unknown attribute \`${name}\` of a block of code.`);
  }
};
