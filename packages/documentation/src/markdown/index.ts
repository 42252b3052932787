export type { FenceRole } from './code-fence.ts';
export { linkMarkdown, toMarkdownAddress } from './link-markdown.ts';
export { type CodeBlock, readCodeBlocks } from './read-code-blocks.ts';
export { type Heading, type PictureSizes, type RenderedMarkdown, renderMarkdown, textOf } from './render-markdown.ts';
export { toSlug } from './slug.ts';
