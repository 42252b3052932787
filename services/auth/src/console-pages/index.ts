export { type ConsoleFrameDeps, consoleFrame, safeNext } from './console-frame.ts';
export { createReadOffer } from './read-offer.ts';
export { consolePageRoutes } from './routes.ts';
