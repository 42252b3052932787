export { type NoticeDeps, startKeyNoticeConsumer, startNoticeConsumer } from './consumer.ts';
