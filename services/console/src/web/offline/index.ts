export { registerWorker } from './register-worker.ts';
export { keepSnapshotOf, readSnapshot, type Snapshot } from './snapshot.ts';
export { useSnapshot } from './use-snapshot.ts';
