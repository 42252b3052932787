export {
  type BrowserApp,
  type BrowserAppOptions,
  type BrowserConnection,
  createBrowserApp,
  type PageLike,
} from './browser-app.ts';
