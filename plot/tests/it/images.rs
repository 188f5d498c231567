//! Charts as SVG, PNG and text: content, size, colours and escaping.

use roxmltree::{Document, Node};
use strata_plot::{
    Chart, Image, JobCurve, JobMark, LayerFigures, MarkKind, Quantity, Scale, Size, Terminal,
    Theme, chart,
};

/// A job whose layers grow and shrink again.
fn job(name: &str, depths: u32) -> JobCurve {
    let layer = |depth: u32| {
        let middle = 1.0 - (f64::from(depth) / f64::from(depths) * 2.0 - 1.0).powi(2);
        LayerFigures {
            depth,
            states: 1 + (middle * 1e6) as u64,
            positions: None,
            traffic: 200 + (middle * 9e5) as u64,
            bytes: 100 + (middle * 3e5) as u64,
            seconds: 0.01 + middle * 0.2,
        }
    };
    JobCurve::new(name, (0..=depths).map(layer).collect())
}

fn elements<'a, 'input>(document: &'a Document<'input>, name: &str) -> Vec<Node<'a, 'input>> {
    document.descendants().filter(|node| node.has_tag_name(name)).collect()
}

fn texts(document: &Document<'_>) -> Vec<String> {
    let texts = elements(document, "text");
    texts.iter().filter_map(|text| text.text().map(str::to_owned)).collect()
}

/// Width and height that a PNG file states.
fn dimensions(png: &[u8]) -> (u32, u32) {
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn an_svg_has_title_description_axes_and_curve() {
    let svg = chart(Quantity::Positions, &[job("job", 200)], Scale::Linear).svg(&Image::default());
    let document = Document::parse(&svg).unwrap();
    let root = document.root_element();
    assert_eq!(root.attribute("viewBox"), Some("0 0 800 450"));
    assert_eq!(root.attribute("role"), Some("img"));
    let description = "job: states by depth. Highest: 1,000,001 at depth 100.";
    assert_eq!(root.attribute("aria-label"), Some(description));
    assert_eq!(elements(&document, "title")[0].text(), Some("job: states by depth"));
    let texts = texts(&document);
    let labels = ["job: states by depth", "states", "0", "200 k", "1 M", "depth", "150", "200"];
    for label in labels {
        assert!(texts.iter().any(|text| text == label), "{label} is missing in {texts:?}");
    }
    let lines = elements(&document, "polyline");
    let longest = lines.iter().map(|line| line.attribute("points").unwrap().split(' ').count());
    assert_eq!(longest.max(), Some(201));
    assert_eq!(elements(&document, "polygon").len(), 1);
}

#[test]
fn a_page_with_a_strict_policy_can_embed_an_svg() {
    let svg = chart(Quantity::Rate, &[job("job", 200)], Scale::Log).svg(&Image::default());
    let document = Document::parse(&svg).unwrap();
    for node in document.descendants().filter(Node::is_element) {
        assert!(!["script", "style", "a", "image"].contains(&node.tag_name().name()));
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!(name == "style" || name == "href" || name.starts_with("on")), "{name}");
        }
    }
}

#[test]
fn markup_in_a_name_stays_text() {
    let name = "</title><script>alert(1)</script>\" onload=\"x";
    let svg = chart(Quantity::Positions, &[job(name, 9)], Scale::Linear).svg(&Image::default());
    let document = Document::parse(&svg).unwrap();
    assert!(elements(&document, "script").is_empty());
    assert_eq!(document.root_element().attribute("onload"), None);
    let title = elements(&document, "title")[0].text().unwrap();
    assert_eq!(title, format!("{name}: states by depth"));
}

#[test]
fn a_comparison_has_a_legend_and_two_colours() {
    let jobs = [job("one", 50), job("other", 90)];
    let svg = chart(Quantity::Time, &jobs, Scale::Linear).svg(&Image::default());
    let document = Document::parse(&svg).unwrap();
    let texts = texts(&document);
    assert!(texts.contains(&"one".to_owned()) && texts.contains(&"other".to_owned()), "{texts:?}");
    let curves = elements(&document, "polyline");
    let curves = curves.iter().filter(|line| line.attribute("points").unwrap().len() > 200);
    let colours: Vec<_> = curves.map(|line| line.attribute("stroke").unwrap()).collect();
    assert_eq!(colours.len(), 2);
    assert_ne!(colours[0], colours[1]);
}

#[test]
fn marks_and_the_expected_remainder_are_drawn() {
    let mut job = job("job", 50);
    job.expected = vec![(60, 4e5), (70, 1e5)];
    let kinds = [(MarkKind::Checkpoint, 10), (MarkKind::Rollback, 20), (MarkKind::Resume, 30)];
    job.marks = kinds.map(|(kind, depth)| JobMark { kind, depth }).to_vec();
    let svg = chart(Quantity::Positions, &[job], Scale::Linear).svg(&Image::default());
    let document = Document::parse(&svg).unwrap();
    let texts = texts(&document);
    for name in ["job (expected)", "checkpoint", "rollback", "resume"] {
        assert!(texts.iter().any(|text| text == name), "{name} is missing in {texts:?}");
    }
    let lines = elements(&document, "polyline");
    let dashed = lines.iter().filter(|line| line.attribute("stroke-dasharray").is_some());
    // The curve, rollback and resume: each in the plot and in the legend.
    assert_eq!(dashed.count(), 6);
}

#[test]
fn a_png_has_the_size_and_the_colours_of_its_theme() {
    let chart = chart(Quantity::Positions, &[job("job", 200)], Scale::Linear);
    let size = Size::new(640, 360).unwrap();
    let draw = |theme, transparent| chart.png(&Image { size, theme, transparent }).unwrap();
    let light = draw(Theme::Light, false);
    assert_eq!(dimensions(&light), (640, 360));
    let corner = |png: &[u8]| {
        let image = tiny_skia::Pixmap::decode_png(png).unwrap();
        let pixel = image.pixel(1, 1).unwrap().demultiply();
        (pixel.red(), pixel.green(), pixel.blue(), pixel.alpha())
    };
    assert_eq!(corner(&light), (255, 255, 255, 255));
    assert_eq!(corner(&draw(Theme::Dark, false)), (0x11, 0x18, 0x27, 255));
    assert_eq!(corner(&draw(Theme::Dark, true)).3, 0);
}

/// The pixels of the title, which are missing if the font cannot be read.
#[test]
fn a_png_has_text() {
    let image = Image::default();
    let dark = |chart: &Chart| {
        let png = chart.png(&image).unwrap();
        let pixels = tiny_skia::Pixmap::decode_png(&png).unwrap();
        let title = (0..22).flat_map(|y| (0..400).map(move |x| (x + 14, y + 12)));
        title.filter(|(x, y)| pixels.pixel(*x, *y).unwrap().red() < 100).count()
    };
    let named = dark(&chart(Quantity::Positions, &[job("job", 9)], Scale::Linear));
    let long = dark(&chart(Quantity::Positions, &[job("job with a name", 9)], Scale::Linear));
    assert!(named > 300 && long > named + 100, "{named} and {long} pixels");
}

#[test]
fn a_search_of_a_million_layers_makes_a_small_image() {
    let million = chart(Quantity::Positions, &[job("job", 1_000_000)], Scale::Log);
    let svg = million.svg(&Image::default());
    assert!(svg.len() < 100_000, "{} bytes", svg.len());
    assert!(svg.contains("Highest: 1,000,001 at depth 500,000."));
}

#[test]
fn an_empty_chart_shows_no_data() {
    let none = chart(Quantity::Positions, &[JobCurve::new("job", Vec::new())], Scale::Log);
    assert!(none.is_empty());
    let svg = none.svg(&Image::default());
    assert!(texts(&Document::parse(&svg).unwrap()).contains(&"no data".to_owned()));
    assert_eq!(none.text(&Terminal::default()).lines().count(), 21);
}

#[test]
fn text_charts_match_the_stored_drawings() {
    let chart = chart(Quantity::Positions, &[job("job", 200)], Scale::Linear);
    let text = chart.text(&Terminal { width: 60, height: 8, colour: false });
    assert_eq!(text, include_str!("positions.txt"));
    let mut other = job("other", 120);
    other.layers.iter_mut().for_each(|layer| layer.states /= 2);
    let jobs = [job("job", 200), other];
    let chart = strata_plot::chart(Quantity::Positions, &jobs, Scale::Log);
    let text = chart.text(&Terminal { width: 60, height: 8, colour: false });
    assert_eq!(text, include_str!("compared.txt"));
}
