import { enableCodeTabs, enableCopyButtons, enableMenu, enableTheme, fillInAddress } from './page-controls.ts';
import { enableSearch } from './search.ts';
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
