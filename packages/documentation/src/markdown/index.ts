export { codeBlock, codeTexts } from './code-block.ts';
export type { CodeTab, FenceRole } from './code-fence.ts';
export { linkMarkdown, toMarkdownAddress } from './link-markdown.ts';
export { type CodeBlock, readCodeBlocks } from './read-code-blocks.ts';
export {
  codeTabs,
  type Heading,
  type PictureSizes,
  type RenderedMarkdown,
  renderMarkdown,
  textOf,
  toSlug,
} from './render-markdown.ts';
