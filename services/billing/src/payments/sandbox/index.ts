export { announceChanges, type SandboxDeps, type SandboxListener } from './announce-changes.ts';
export { renewDue } from './change-subscription.ts';
export { type SandboxRouteDeps, sandboxRoutes } from './routes.ts';
export { createSandboxProvider } from './sandbox-provider.ts';
