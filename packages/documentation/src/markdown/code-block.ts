import { escapeHtml, type Html, html, trustedHtml } from '@svc/pages';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { marked } from 'marked';
import type { Language } from '../site/guide-sections.ts';

const LANGUAGES = { bash, http, javascript, json, python, sql, typescript, yaml };
const ALIASES: Readonly<Record<string, keyof typeof LANGUAGES>> = {
  sh: 'bash',
  js: 'javascript',
  ts: 'typescript',
  py: 'python',
  yml: 'yaml',
};

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);

/** Highlights code with classes at build time, so that browsers need no script and no inline style. */
const highlight = (code: string, language: string): Html => {
  const name = ALIASES[language] ?? language;
  if (hljs.getLanguage(name) === undefined) return trustedHtml(escapeHtml(code));
  return trustedHtml(hljs.highlight(code, { language: name }).value);
};

/** Words around a block of code. */
export interface CodeTexts {
  readonly copy: string;
  readonly saveAs: string;
  readonly notRun: string;
  readonly background: string;
  readonly prints: string;
  readonly printsInBackground: string;
  /** Legend of the tabs of an example. */
  readonly languages: string;
  /** Summary of a diagram's text alternative. */
  readonly inWords: string;
}

export const codeTexts: Readonly<Record<Language, CodeTexts>> = {
  en: {
    copy: 'Copy',
    saveAs: 'Save as',
    notRun: 'Not run by the tests',
    background: 'In a second terminal, in the same folder',
    prints: 'Prints',
    printsInBackground: 'In the second terminal',
    languages: 'Language of the example',
    inWords: 'The same in words',
  },
  it: {
    copy: 'Copia',
    saveAs: 'Salva come',
    notRun: 'Non eseguito dai test',
    background: 'In un secondo terminale, nella stessa cartella',
    prints: 'Stampa',
    printsInBackground: 'Nel secondo terminale',
    languages: 'Linguaggio dell’esempio',
    inWords: 'Lo stesso a parole',
  },
};

/** Languages of what is sent and answered. */
const DATA_LANGUAGES = new Set(['json', 'text']);

/** Lines of a drawing, which means nothing once its lines are wrapped. */
const BOX_DRAWING = /[\u2500-\u257f]/;

/** Renders a block of code, with a title for a file and a copy button for code to paste. */
export const codeBlock = (code: string, { language, role }: CodeFence, texts: CodeTexts): Html => {
  const title = titleOf(role, texts);
  const isData = role === undefined && DATA_LANGUAGES.has(language) && !BOX_DRAWING.test(code);
  const isPasted = role?.kind !== 'output';
  return html`<figure class="code${role?.kind === 'output' && ' is-output'}${isData && ' is-data'}">
${title !== undefined && html`<figcaption>${title}</figcaption>`}
${isPasted && html`<button type="button" class="copy">${texts.copy}</button>`}
<pre tabindex="0"><code>${highlight(code.trimEnd(), language)}</code></pre>
</figure>
`;
};

const titleOf = (role: CodeFence['role'], texts: CodeTexts): string | Html | undefined => {
  switch (role?.kind) {
    case 'file':
      return html`${texts.saveAs} <code>${role.name}</code>`;
    case 'not-run':
      return `${texts.notRun}: ${role.reason}`;
    case 'background':
      return texts.background;
    case 'output':
      return role.of === 'background' ? texts.printsInBackground : texts.prints;
    default:
      return undefined;
  }
};

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
  | { readonly kind: 'not-run'; readonly reason: string }
  /** Mermaid, drawn as a diagram with this title. */
  | { readonly kind: 'diagram'; readonly title: string };

/** Languages that one example is written in, in the order of their tabs, with their labels. */
export const TAB_LABELS = {
  sdk: 'SDK',
  'openai-sdk': 'OpenAI SDK',
  typescript: 'TypeScript',
  python: 'Python',
  curl: 'curl',
} as const;

export type CodeTab = keyof typeof TAB_LABELS;

/** Info string of a block of code. */
interface CodeFence {
  readonly language: string;
  /** Undefined if the fence names no role. */
  readonly role: FenceRole | undefined;
  /** Tab that shows the block. Neighboring blocks with a tab form one group. */
  readonly tab?: CodeTab | undefined;
}

const ATTRIBUTE = /([a-z-]+)(?:="([^"]*)"|=(\S+))?/g;

/**
 * Parses the info string after the backticks: a language, one of `run`, `run needs="command"`, `background`, `file=…`,
 * `output`, `output=background`, `not-run="…"`, `title="…"`, then `tab=…`.
 */
export const readCodeFence = (text: string): CodeFence => {
  const [, language = '', rest = ''] = /^\s*(\S*)\s*(.*)$/.exec(text) ?? [];
  const attributes = [...rest.matchAll(ATTRIBUTE)].map(
    ([, name = '', quoted, bare]) => [name, quoted ?? bare ?? ''] as const,
  );
  const first = attributes.find(([name]) => name !== 'tab');
  const values = new Map(attributes);
  return { language, role: first === undefined ? undefined : toRole(first, values), tab: toTab(values.get('tab')) };
};

const toTab = (name: string | undefined): CodeTab | undefined => {
  if (name === undefined || isTab(name)) return name;
  throw new TypeError(`Unknown tab \`${name}\` of a block of code.`);
};

const isTab = (name: string): name is CodeTab => Object.hasOwn(TAB_LABELS, name);

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
    case 'title':
      return { kind: 'diagram', title: value };
    default:
      throw new TypeError(`Unknown attribute \`${name}\` of a block of code.`);
  }
};

export interface CodeBlock extends CodeFence {
  readonly code: string;
}

/** Reads all blocks of code of a page, in order. */
export const readCodeBlocks = (markdown: string): readonly CodeBlock[] => {
  const blocks: CodeBlock[] = [];
  marked.walkTokens(marked.lexer(markdown), (token) => {
    if (token.type === 'code') blocks.push({ ...readCodeFence(token['lang'] ?? ''), code: `${token['text']}\n` });
  });
  return blocks;
};
