// SPDX-License-Identifier: Apache-2.0
// Starts the studio in its page.
import { render } from 'preact';
import { App } from './shell/app';
import { listenToAddress } from './state/route';
import { connect } from './state/session';
import { applyTheme } from './state/theme';
import { keepDroppedFilesOut } from './ui/drop-zone';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/parts.css';
import './styles/shell.css';

const place = document.getElementById('app');
if (!place) throw new Error('index.html has no place for the application.');
applyTheme();
listenToAddress();
keepDroppedFilesOut();
connect();
render(<App />, place);
