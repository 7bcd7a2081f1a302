"""The options that commands share, with their help."""

from typing import Annotated

from typer import Argument, Option

from geex.cli.methods import METHODS

IMAGES, SERVICES, RUN = "Images", "Models behind HTTP, and tensors", "Run"

ModelName = Annotated[
    str, Argument(metavar="MODEL", help="An ONNX file, an address (https://…), or package.module:callable.")
]
InputName = Annotated[
    str,
    Argument(metavar="INPUT", help="An image, an .npy file, a row of a .csv or .parquet file; - is standard input."),
]
Target = Annotated[str | None, Option("--target", "-t", help="Output to explain, by index or label. [the largest]")]
Labels = Annotated[str | None, Option(help="File with the names of the outputs, one on every line, or JSON.")]
Baseline = Annotated[
    str | None,
    Option(
        help="What absence looks like: a number, r,g,b, blur:KERNEL,SIGMA, mean (of the table), or an .npy file. "
        "[tables: mean; photos: blur:31,5; else 0]"
    ),
]
Method = Annotated[
    str | None,
    Option("--method", "-m", help=f"{', '.join(METHODS)}; settings in parentheses: 'GEEX(sigma=0.3)'."),
]
Score = Annotated[
    str | None, Option(help="What is explained: answer, softmax (of logits), log_odds or margin. [answer]")
]
Features = Annotated[str | None, Option(help="elements, pixels, or an .npy file of groups. [images: pixels]")]
Queries = Annotated[int | None, Option("--queries", "-q", help="The most rows that the model is asked. [5000]")]
Seed = Annotated[int, Option(help="Same seed, same queries.")]
Batch = Annotated[int | None, Option(help="Rows per call of the model.")]
Journal = Annotated[
    str | None, Option(help="Keep every answer in this file: a run that stops goes on with geex resume FILE.")
]
Price = Annotated[float | None, Option(help="What a query costs, for the forecast.")]
Output = Annotated[
    list[str] | None,
    Option(
        "--output",
        "-o",
        help="Write .html, .png, .svg, .pdf, .npz or .json; again for more. -.html is standard output.",
    ),
]
Curve = Annotated[bool, Option("--curve", help="Some fifty more queries, for the deletion curve in the report.")]
AsJson = Annotated[bool, Option("--json", help="Tell the result as JSON.")]
Quiet = Annotated[bool, Option("--quiet", help="No progress bar.")]

Row = Annotated[int, Option(help="Row of the table, from 0.")]
Drop = Annotated[
    list[str] | None, Option(help="Column of the table that is no input, such as the label; again for more.")
]
Size = Annotated[str | None, Option(help="Pixels, such as 224 or 240x320. [the model's, or the image's]")]
Order = Annotated[str | None, Option(help="chw, hwc or hw. [the model's, or chw]")]
Grey = Annotated[bool, Option("--grey", help="One channel.")]
Scale = Annotated[float, Option(help="What a white pixel becomes, before --mean and --std: 1, or 255.")]
Mean = Annotated[str | None, Option(help="Subtracted: one number, or r,g,b.")]
Std = Annotated[str | None, Option(help="Divided by: one number, or r,g,b.")]
Squeeze = Annotated[bool, Option("--squeeze", help="Squeeze the whole image into the size. [cut out its centre]")]

Header = Annotated[list[str] | None, Option(help="'Name: value' or 'Name: env:VARIABLE'; again for more.")]
Protocol = Annotated[str | None, Option(help="v2 (Open Inference Protocol) or json.")]
Request = Annotated[str | None, Option(help='JSON with "{rows}" where the rows go, for --protocol json.')]
Response = Annotated[str | None, Option(help="Path to the scores in the answer, such as predictions.*.score.")]
InputTensor = Annotated[str | None, Option("--input-name", help="Which input of the graph or service takes the rows.")]
OutputTensor = Annotated[str | None, Option("--output-name", help="Which output holds the scores.")]
Concurrency = Annotated[int | None, Option(help="Calls at a time. [services: 8]")]
Attempts = Annotated[int | None, Option(help="How often a failing call is made. [services: 8]")]
Rate = Annotated[float | None, Option(help="Most calls per second.")]
