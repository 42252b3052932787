export { AppFrame } from './app-frame.tsx';
export { AppSettingsPage } from './app-settings-page.tsx';
export { AppsPage } from './apps-page.tsx';
export { RegisterAppPage } from './register-app-page.tsx';
