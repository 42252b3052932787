export { type NoticeDeps, startNoticeConsumer } from './consumer.ts';
