export { type NoticeDeps, startKeyNoticeConsumer, startNoticeConsumer } from './consumer.ts';
export { noticeInternalRoutes } from './routes.ts';
