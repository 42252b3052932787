import { fillInAddress } from './address.ts';
import { enableCodeTabs } from './code-tabs.ts';
import { enableCopyButtons } from './copy.ts';
import { enableMenu } from './menu.ts';
import { enableSearch } from './search.ts';
import { enableTheme } from './theme.ts';
import { enableTrying } from './try.ts';

// Pages work without scripts; each call adds a feature. None may move what is on the screen.
enableTheme();
enableMenu();
// Before the copy buttons, which copy what is shown.
fillInAddress();
enableCopyButtons();
enableCodeTabs();
enableSearch();
enableTrying();

// A form that one page has is loaded there only.
if (document.querySelector('[data-widget="check-provenance"]') !== null) {
  void import('./check-provenance.ts').then(({ enableProvenanceCheck }) => enableProvenanceCheck());
}
