export {
  type BuildOptions,
  buildDocumentation,
  NOT_FOUND_PATHS,
  PARTNER_SDK_PATH,
  type SiteFiles,
} from './build-documentation.ts';
export type { FenceRole } from './markdown/code-block.ts';
export { type CodeBlock, readCodeBlocks } from './markdown/code-block.ts';
export { siteSections } from './site/guide-sections.ts';
