export { applyEndings } from './apply-endings.ts';
export { startEndingConsumer } from './consumer.ts';
export { endingRoutes } from './routes.ts';
