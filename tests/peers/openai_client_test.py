# SPDX-License-Identifier: Apache-2.0
"""OpenAI's own client against `ubique serve` with a small code model that is trained here: completions with a suffix, chats,
streams, usage, stops, seeds, log-probabilities, errors, many at once."""

import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import openai

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli/helpers"))
from studio import Studio  # noqa: E402

UBIQUE = os.environ["UBIQUE"]
PROMPT = "def add(first"
# The model was trained on plain code; this lets it take part in a conversation.
TEMPLATE = "{% for m in messages %}# {{ m.role }}: {{ m.content }}\n{% endfor %}{% if add_generation_prompt %}# assistant:{% endif %}"
GREEDY = dict(model="tiny", temperature=0)


class OpenAiClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = Path(cls.temporary.name)
        environment = {"UBIQUE_CACHE_DIR": str(folder / "cache"), "HF_HOME": str(folder / "hf")}
        subprocess.run([UBIQUE, "demo", "codelm", "--quick", "--device", "cpu", "-o", folder / "code", "-q"], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, **environment))
        (folder / "code/run/tokenizer/chat_template.jinja").write_text(TEMPLATE)
        cls.studio = Studio(UBIQUE, folder / "data", "--models-device", "cpu", environment=environment)
        cls.studio.start()
        cls.studio.json("POST", "/api/models", {"path": str(folder / "code/run"), "name": "tiny"}, 201)
        cls.client = openai.OpenAI(base_url=cls.studio.told["address"] + "/v1", api_key="none is needed", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.studio.stop()
        cls.temporary.cleanup()

    def complete(self, **more):
        return self.client.completions.create(**{**GREEDY, "prompt": PROMPT, "max_tokens": 12, **more})

    def chat(self, **more):
        return self.client.chat.completions.create(**{**GREEDY, "messages": [{"role": "user", "content": "add two numbers"}],
                                                      "max_completion_tokens": 12, **more})

    def test_models_are_listed_and_found(self):
        self.assertEqual([model.id for model in self.client.models.list()], ["tiny"])
        self.assertEqual(self.client.models.retrieve("tiny").owned_by, "ubique")
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("none")

    def test_a_completion_has_text_reason_and_counts(self):
        whole = self.complete()
        self.assertEqual(whole.object, "text_completion")
        self.assertEqual(whole.choices[0].finish_reason, "length")
        self.assertEqual(whole.usage.completion_tokens, 12)
        self.assertEqual(whole.usage.total_tokens, whole.usage.prompt_tokens + 12)
        self.assertEqual(self.complete().choices[0].text, whole.choices[0].text)
        echoed = self.complete(echo=True).choices[0].text
        self.assertEqual(echoed, PROMPT + whole.choices[0].text)

    def test_a_stream_gives_the_same_text_piece_by_piece(self):
        whole = self.complete()
        chunks = list(self.complete(stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(chunk.choices[0].text for chunk in chunks if chunk.choices), whole.choices[0].text)
        self.assertEqual(chunks[-1].usage, whole.usage)
        self.assertEqual([chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1], "length")
        self.assertGreater(len(chunks), 5)
        self.assertEqual(len({chunk.id for chunk in chunks}), 1)

    def test_the_command_line_completes_with_the_same_text(self):
        folder = Path(self.temporary.name)
        done = subprocess.run([UBIQUE, "run", "codelm", "--prompt", PROMPT, "--model", folder / "code/run", "--temperature", "0",
                               "--max-new-tokens", "12", "--device", "cpu", "--json", "-q"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)["completion"]
        served = self.complete(logprobs=2).choices[0]
        if told != served.text:
            gaps = [abs(one - two) for one, two in map(lambda rivals: sorted(rivals.values())[-2:], served.logprobs.top_logprobs)]
            self.assertLess(min(gaps), 1e-3, (told, served.text))

    def test_a_suffix_fills_the_middle_and_changes_the_text(self):
        middle = self.complete(suffix="\n    return first + second\n")
        self.assertGreater(middle.usage.prompt_tokens, self.complete().usage.prompt_tokens)
        self.assertIsInstance(middle.choices[0].text, str)

    def test_a_stop_ends_the_text_before_it(self):
        drawn = dict(max_tokens=40, temperature=1, seed=5)
        whole = self.complete(**drawn).choices[0].text
        stop = next(character for character in whole[10:] if character not in whole[:10])
        ended = self.complete(**drawn, stop=[stop]).choices[0]
        self.assertEqual(ended.text, whole[:whole.index(stop)])
        self.assertEqual(ended.finish_reason, "stop")

    def test_a_seed_gives_the_same_text_again_and_others_others(self):
        draw = lambda seed: [choice.text for choice in self.complete(temperature=1, seed=seed, n=3).choices]  # noqa: E731
        first = draw(7)
        self.assertEqual(draw(7), first)
        self.assertNotEqual(draw(8_000_000), first)
        self.assertGreater(len(set(first)), 1)
        self.assertEqual(draw(8)[:2], first[1:])  # choice i has the seed plus i

    def test_log_probabilities_are_of_the_tokens_and_their_rivals(self):
        choice = self.complete(logprobs=3).choices[0]
        told = choice.logprobs
        self.assertEqual("".join(told.tokens), choice.text)
        self.assertEqual(len(told.token_logprobs), 12)
        for token, logprob, rivals, offset in zip(told.tokens, told.token_logprobs, told.top_logprobs, told.text_offset, strict=True):
            self.assertLessEqual(logprob, 0)
            self.assertAlmostEqual(max(rivals.values()), logprob, places=5)  # greedy: the likeliest was taken
            self.assertTrue(choice.text[offset:].startswith(token))
        content = self.chat(logprobs=True, top_logprobs=2).choices[0].logprobs.content
        self.assertEqual(len(content), 12)
        self.assertTrue(all(len(token.top_logprobs) == 2 for token in content))

    def test_a_chat_answers_whole_and_in_a_stream(self):
        whole = self.chat()
        self.assertEqual(whole.choices[0].message.role, "assistant")
        chunks = list(self.chat(stream=True))
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual("".join(chunk.choices[0].delta.content or "" for chunk in chunks), whole.choices[0].message.content)
        self.assertIn(chunks[-1].choices[0].finish_reason, ("length", "stop"))

    def test_many_at_once_get_what_each_gets_alone(self):
        prompts = [f"def f{number}(value" for number in range(24)]
        ask = lambda prompt: self.complete(prompt=prompt, logprobs=2).choices[0].logprobs  # noqa: E731
        alone = [ask(prompt) for prompt in prompts]
        with concurrent.futures.ThreadPoolExecutor(24) as pool:
            together = list(pool.map(ask, prompts))
        for one, other in zip(alone, together):
            self.check_the_same(one, other)
        batched = self.complete(prompt=prompts[:4])
        self.assertEqual([choice.index for choice in batched.choices], [0, 1, 2, 3])

    def check_the_same(self, one, other):
        """Token by token, until two are so equally likely that sums in another order may turn them."""
        for token, again, rivals in zip(one.tokens, other.tokens, one.top_logprobs, strict=True):
            if token != again:
                self.assertLess(abs(rivals[token] - rivals.get(again, -9)), 1e-3, (one.tokens, other.tokens))
                return

    def test_what_is_wrong_is_an_error_of_the_client_with_its_parameter(self):
        for more, param in ((dict(temperature=9), "temperature"), (dict(max_tokens=0), "max_tokens"),
                            (dict(best_of=3), "best_of"), (dict(extra_body={"colour": 1}), "colour")):
            with self.assertRaises(openai.BadRequestError) as told:
                self.complete(**more)
            self.assertEqual(told.exception.param, param)
        with self.assertRaises(openai.BadRequestError) as told:
            self.chat(tools=[{"type": "function", "function": {"name": "f"}}])
        self.assertEqual(told.exception.param, "tools")
        with self.assertRaises(openai.NotFoundError):
            self.complete(model="none")
        with self.assertRaises(openai.BadRequestError):
            self.complete(prompt="x " * 100_000)

    def test_a_client_that_leaves_in_mid_stream_frees_its_slot(self):
        for _ in range(20):
            stream = self.complete(max_tokens=200, stream=True)
            next(iter(stream))
            stream.close()
        self.assertEqual(self.complete().usage.completion_tokens, 12)


if __name__ == "__main__":
    unittest.main()
