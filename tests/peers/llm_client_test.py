# SPDX-License-Identifier: Apache-2.0
"""The command line tool `llm` against `ubique serve`: a client that people point at any server of OpenAI's interface."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli/helpers"))
from random_code_model import write_random_code_model  # noqa: E402
from studio import Studio  # noqa: E402

UBIQUE = os.environ["UBIQUE"]
LLM = Path(sys.executable).with_name("llm")
TEMPLATE = "{% for m in messages %}# {{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}# assistant:{% endif %}"
MODELS = """
- {model_id: completes, model_name: tiny, api_base: ADDRESS/v1, completion: true}
- {model_id: chats, model_name: tiny, api_base: ADDRESS/v1}
"""


class LlmClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.temporary.name)
        model = write_random_code_model(cls.folder / "model")
        (model / "chat_template.jinja").write_text(TEMPLATE)
        environment = {"UBIQUE_CACHE_DIR": str(cls.folder / "cache"), "HF_HOME": str(cls.folder / "hf")}
        cls.studio = Studio(UBIQUE, cls.folder / "data", "--models-device", "cpu", environment=environment)
        cls.studio.start()
        cls.studio.json("POST", "/api/models", {"path": str(model), "name": "tiny"}, 201)
        (cls.folder / "llm").mkdir()
        (cls.folder / "llm/extra-openai-models.yaml").write_text(MODELS.replace("ADDRESS", cls.studio.told["address"]))

    @classmethod
    def tearDownClass(cls):
        cls.studio.stop()
        cls.temporary.cleanup()

    def ask(self, *words):
        environment = dict(os.environ, LLM_USER_PATH=str(self.folder / "llm"), OPENAI_API_KEY="none is needed")
        done = subprocess.run([LLM, "-m", *words, "-o", "max_tokens", "12", "-o", "temperature", "0"], env=environment, text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_completions_and_chats_are_the_same_streamed_and_whole(self):
        for words in (["completes", "def add("], ["chats", "hello"], ["chats", "-s", "be brief", "hello"]):
            whole = self.ask(*words, "--no-stream")
            self.assertGreater(len(whole.strip()), 5)
            self.assertEqual(self.ask(*words), whole)

    def test_a_conversation_is_gone_on_with(self):
        first = self.ask("chats", "hello")
        self.assertNotEqual(self.ask("chats", "-c", "and then?"), first)


if __name__ == "__main__":
    unittest.main()
