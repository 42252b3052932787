import { escapeHtml, type Html, trustedHtml } from '@svc/pages';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import http from 'highlight.js/lib/languages/http';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';

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
export const highlight = (code: string, language: string): Html => {
  const name = ALIASES[language] ?? language;
  if (hljs.getLanguage(name) === undefined) return trustedHtml(escapeHtml(code));
  return trustedHtml(hljs.highlight(code, { language: name }).value);
};
