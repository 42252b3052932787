export { codeBlock } from './code-block.ts';
export { type CodeFence, type FenceRole, readCodeFence } from './code-fence.ts';
export { highlight } from './highlight.ts';
export { type CodeBlock, readCodeBlocks } from './read-code-blocks.ts';
export { type Heading, type RenderedMarkdown, renderMarkdown, textOf } from './render-markdown.ts';
export { createSlugger, toSlug } from './slug.ts';
