import { type Html, trustedHtml } from '@svc/pages';
import type { Tokens } from 'marked';
import { type CodeTexts, codeBlock } from './code-block.ts';
import { type CodeTab, readCodeFence } from './code-fence.ts';
import { codeTabs } from './code-tabs.ts';
import { diagram } from './diagram.ts';

/** Renders the blocks of code of one page. */
interface CodeRenderer {
  readonly block: (token: Tokens.Code) => string;
  readonly tabs: (blocks: readonly Tokens.Code[]) => string;
}

export const createCodeRenderer = (texts: CodeTexts): CodeRenderer => {
  let groups = 0;
  let diagrams = 0;

  const block = ({ text, lang }: Tokens.Code): Html => {
    const fence = readCodeFence(lang ?? '');
    if (fence.role?.kind !== 'diagram') return codeBlock(text, fence, texts);
    diagrams += 1;
    return diagram({ id: `diagram-${diagrams}`, title: fence.role.title, source: text, texts });
  };

  return {
    block: (token) => block(token).markup,
    tabs: (blocks) => {
      groups += 1;
      const panels = new Map<CodeTab, Html>();
      for (const token of blocks) {
        const { tab } = readCodeFence(token.lang ?? '');
        if (tab === undefined) continue;
        panels.set(tab, trustedHtml(`${panels.get(tab)?.markup ?? ''}${block(token).markup}`));
      }
      return codeTabs({ name: `tabs-${groups}`, panels, texts }).markup;
    },
  };
};
