export {
  type BuildOptions,
  buildDocumentation,
  NOT_FOUND_PATHS,
  PARTNER_SDK_PATH,
  type SiteFiles,
} from './build-documentation.ts';
export { type CodeBlock, type FenceRole, readCodeBlocks } from './markdown/index.ts';
export { siteSections } from './site/index.ts';
