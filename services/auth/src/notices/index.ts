export { type NoticeDeps, startKeyNoticeConsumer, startNoticeConsumer } from './consumer.ts';
export { createKeyNames } from './key-names.ts';
export { noticeInternalRoutes } from './routes.ts';
