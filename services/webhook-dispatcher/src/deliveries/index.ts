export { startWorker, type Worker, type WorkerDeps } from './start-worker.ts';
