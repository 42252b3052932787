import { inspectEveryPage } from '../support/inspect-every-page.ts';

inspectEveryPage('en');
