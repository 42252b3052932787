import { type Html, html } from '@svc/pages';
import type { Token, Tokens } from 'marked';
import type { CodeTexts } from './code-block.ts';
import { type CodeTab, readCodeFence, TAB_LABELS } from './code-fence.ts';

/** Neighboring blocks of code in several languages. */
export interface CodeTabsToken extends Tokens.Generic {
  readonly type: 'code-tabs';
  readonly blocks: readonly Tokens.Code[];
}

/** Folds neighboring blocks of code that name a tab into one token each. */
export const foldCodeTabs = (tokens: readonly Token[]): Token[] => {
  const folded: Token[] = [];
  let group: Tokens.Code[] = [];
  const close = (): void => {
    if (group.length > 0) folded.push({ type: 'code-tabs', raw: '', blocks: group } satisfies CodeTabsToken);
    group = [];
  };
  for (const token of tokens) {
    if (isTabbed(token)) {
      group.push(token);
    } else if (token.type !== 'space' || group.length === 0) {
      close();
      folded.push(token);
    }
  }
  close();
  return folded;
};

const isTabbed = (token: Token): token is Tokens.Code =>
  token.type === 'code' && readCodeFence(token['lang'] ?? '').tab !== undefined;

export interface CodeTabs {
  /** Unique in the page. */
  readonly name: string;
  readonly panels: ReadonlyMap<CodeTab, Html>;
  readonly texts: CodeTexts;
}

/**
 * Renders radio buttons with one panel each. The style sheet shows the panel of the checked one, so that tabs work
 * without a script; browsers without `:has()` show all panels with their titles.
 */
export const codeTabs = ({ name, panels, texts }: CodeTabs): Html => html`<fieldset class="tabs">
<legend class="visually-hidden">${texts.languages}</legend>
<div class="tab-strip">${[...panels.keys()].map(
  (tab, index) =>
    html`<label><input type="radio" name="${name}" value="${tab}" autocomplete="off"${index === 0 && html` checked`}>${TAB_LABELS[tab]}</label>`,
)}</div>
${[...panels].map(
  ([tab, content]) => html`<div class="tab-panel" data-tab="${tab}"><p class="tab-title">${TAB_LABELS[tab]}</p>
${content}</div>
`,
)}</fieldset>
`;
