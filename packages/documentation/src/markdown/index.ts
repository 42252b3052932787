export { codeBlock, codeTexts } from './code-block.ts';
export type { CodeTab, FenceRole } from './code-fence.ts';
export { codeTabs } from './code-tabs.ts';
export { linkMarkdown, toMarkdownAddress } from './link-markdown.ts';
export { type CodeBlock, readCodeBlocks } from './read-code-blocks.ts';
export { type Heading, type PictureSizes, type RenderedMarkdown, renderMarkdown, textOf } from './render-markdown.ts';
export { toSlug } from './slug.ts';
