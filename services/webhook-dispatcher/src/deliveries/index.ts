export { type SharedHints, shareHints } from './share-hints.ts';
export { startWorker, type Worker, type WorkerDeps } from './start-worker.ts';
