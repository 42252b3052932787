export { type AssetStore, createAssetStore } from './asset-store.ts';
export { createInternalHandler } from './internal-handler.ts';
export { createPublicPages } from './public-pages.ts';
export { createWebHandler } from './web-handler.ts';
