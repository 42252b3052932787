import { marked } from 'marked';
import { type CodeFence, readCodeFence } from './code-fence.ts';

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
