export { landingPage, missingPage, SITE_POLICY } from './landing-page.ts';
